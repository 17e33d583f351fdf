// The parts of a node id, as `decode` returns them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout, Snowflake } from "frazil";
import { decode as decodeAlone } from "frazil/decode";

test("a node id and its parts may be decimal digits, wherever they are given, and an error names what was given", () => {
  const twitter = Layout.named("twitter");
  const at = { timestampMs: 1_704_067_200_000, sequence: 5 };
  for (const node of [113, "113", "0113", { datacenter: 3, worker: 17 }, { datacenter: "3", worker: "017" }]) {
    assert.equal(twitter.joinNode(node), 113);
    assert.equal(twitter.compose({ ...at, node }), twitter.compose({ ...at, node: 113 }));
    assert.equal(new Snowflake({ layout: "twitter", node, unshared: true }).node, 113);
  }
  for (const [field, given] of [
    ["node", (text) => text],
    ["node.worker", (worker) => ({ datacenter: 3, worker })],
  ])
    for (const text of ["1024", "1".repeat(30), "", " 1", "1e1", "-0", "1n", "0x1", "\u0661"])
      for (const call of [
        () => twitter.joinNode(given(text)),
        () => twitter.compose({ ...at, node: given(text) }),
        () => new Snowflake({ layout: "twitter", node: given(text) }),
      ])
        assert.throws(call, { code: "INVALID_NODE", field, value: text });
});

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
