// The parts of a node id, as `decode` returns them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout } from "frazil";
import { decode as decodeAlone } from "frazil/decode";

test("the parts of a decoded ID are frozen, so those of another stay what they are", () => {
  const twitter = Layout.named("twitter");
  const discord = Layout.named("discord");
  for (const [layout, names] of [
    [twitter, ["datacenter", "worker"]],
    [discord, ["worker", "process"]],
  ]) {
    const id = layout.compose({ timestampMs: 1_704_067_200_000, node: 3 * 32 + 17, sequence: 5 });
    for (const decode of [
      (id) => layout.decode(id),
      (id) => decodeAlone(id, layout === twitter ? "twitter" : "discord"),
    ])
      for (let round = 0; round < 3; round++) {
        const { parts } = decode(id);
        assert.deepEqual(parts, { [names[0]]: 3, [names[1]]: 17 });
        assert.deepEqual(Object.getPrototypeOf(parts), Object.prototype);
        for (const name of [...names, "other"])
          assert.throws(() => {
            parts[name] = 31;
          }, TypeError);
        assert.deepEqual({ ...parts, [names[0]]: 4 }, { [names[0]]: 4, [names[1]]: 17 });
      }
  }
});
