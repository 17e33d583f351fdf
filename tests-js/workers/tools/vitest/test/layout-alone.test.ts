import { Layout } from "frazil/layout";
import { expect, test } from "vitest";

test("IDs are decoded", () => {
  expect(Layout.named("twitter").decode("1541815603606036480").timestampMs).toBe(1656432460105);
});
