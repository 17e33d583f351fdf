// The parts of a node id, as `decode` returns them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout } from "frazil";

test("the parts of a decoded ID are an object of its own, whatever was done to those of another", () => {
  const twitter = Layout.named("twitter");
  const discord = Layout.named("discord");
  for (const [layout, names] of [
    [twitter, ["datacenter", "worker"]],
    [discord, ["worker", "process"]],
  ]) {
    const id = layout.compose({ timestampMs: 1_704_067_200_000, node: 3 * 32 + 17, sequence: 5 });
    for (let round = 0; round < 3; round++) {
      const { parts } = layout.decode(id);
      assert.deepEqual(parts, { [names[0]]: 3, [names[1]]: 17 });
      // The caller's changes are the caller's.
      for (const name of names) parts[name] = 31;
    }
  }
});
