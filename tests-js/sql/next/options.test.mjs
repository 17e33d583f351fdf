// What `nextSql` refuses, without a database.
import assert from "node:assert/strict";
import { test } from "node:test";
import { nextSql } from "frazil/sql";

for (const [name, layout, options, code, field] of [
  ["no options", "default", undefined, "INVALID_OPTION", "options"],
  ["an unknown option", "default", { node: 1, worker: 2 }, "INVALID_OPTION", "worker"],
  ["no node id", "default", {}, "INVALID_NODE", "node"],
  ["a node id that is too large", "default", { node: 1024 }, "INVALID_NODE", "node"],
  ["a node id of a layout without one", "mastodon", { node: 1 }, "INVALID_NODE", "node"],
  ["a layout that leaves no counter", "mastodon", {}, "INVALID_LAYOUT", "layout"],
  ["an unknown layout", "twiter", { node: 1 }, "INVALID_LAYOUT", "layout"],
  [
    "a layout with IDs that have a sign",
    {
      epochMs: 0,
      unsigned: true,
      fields: [
        { kind: "sequence", bits: 12 },
        { kind: "node", bits: 11 },
        { kind: "time", bits: 41 },
      ],
    },
    { node: 1 },
    "INVALID_LAYOUT",
    "layout",
  ],
  ["a schema with a quotation mark", "default", { node: 1, schema: 'a"b' }, "INVALID_OPTION", "schema"],
  ["a schema with an apostrophe", "default", { node: 1, schema: "a'b" }, "INVALID_OPTION", "schema"],
  ["a role with a quotation mark", "default", { node: 1, grant: 'a"' }, "INVALID_OPTION", "grant"],
  ["a lag of 0", "default", { node: 1, maxLagMs: 0 }, "INVALID_OPTION", "maxLagMs"],
  ["a lead beyond a second", "default", { node: 1, maxLeadMs: 1001 }, "INVALID_OPTION", "maxLeadMs"],
  ["a down that is no boolean", "default", { node: 1, down: "yes" }, "INVALID_OPTION", "down"],
])
  test(`${name} is refused`, () => {
    assert.throws(
      () => nextSql(layout, options),
      (error) => error.code === code && error.field === field,
    );
  });

test("all 64 bits: the node id decides whether IDs have a sign, unless the time is above", () => {
  const fields = [
    { kind: "node", bits: 11 },
    { kind: "time", bits: 41 },
    { kind: "sequence", bits: 12 },
  ];
  const layout = { epochMs: 0, unsigned: true, fields };
  assert.match(nextSql(layout, { node: 1023 }), /next\(\)/);
  assert.throws(() => nextSql(layout, { node: 1024 }), { code: "INVALID_LAYOUT" });
  assert.match(nextSql("discord", { node: 1023 }), /next\(\)/);
});

test("nothing in braces is left, and the role is quoted", () => {
  const text = nextSql("default", { node: 1, grant: "my app" });
  assert.doesNotMatch(text, /\{\w+\}/);
  assert.match(text, /TO "my app";/);
  assert.match(nextSql("default", { node: 1, grant: "PUBLIC" }), /TO PUBLIC;/);
  for (const grant of ["{grant}", "{schema}", "{role}", "$&"])
    assert.ok(nextSql("default", { node: 1, grant }).includes(`TO "${grant}";`), grant);
});
