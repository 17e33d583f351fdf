import { env } from "cloudflare:workers";
import { Snowflake } from "frazil";
import { leased } from "frazil/workers";
import { expect, test, vi } from "vitest";

test("a faked time is that of the generators, and after a later one the real time is behind", async () => {
  const ids = await leased(env.FRAZIL);
  const nowMs = Date.now();
  vi.useFakeTimers({ now: nowMs + 60_000 });
  expect(ids.decode(ids.next()).timestampMs).toBe(nowMs + 60_000);
  vi.useRealTimers();
  expect(() => ids.next()).toThrow(/^CLOCK_BACKWARD: /);

  const ownMs = Date.UTC(2030, 0, 1);
  const own = new Snowflake({ layout: "edge", node: 6, now: () => ownMs });
  expect(own.decode(own.next()).timestampMs).toBe(ownMs);
});
