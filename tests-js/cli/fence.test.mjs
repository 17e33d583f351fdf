// The messages of `npx frazil fence` for mistakes. `stores/fence-command.test.mjs` runs its output.
import assert from "node:assert/strict";
import { test } from "node:test";
import { frazil } from "./cli.mjs";

test("a store that the command line cannot ask is told by code, and mistakes are told", async () => {
  for (const [args, message] of [
    [
      ["zookeeper", "--scope", "orders"],
      /by a program, which has its client\nhint: await store\.fence\(\{ scope: "orders" \}\)/,
    ],
    [["durable-object"], /await store\.fence\(\{ scope: "default" \}\)/],
    [["pg"], /^frazil: pg is not a store\nhint: Did you mean postgres\? npx frazil fence postgres --scope default\n/],
    [[], /fence needs one store, of postgres, mysql, redis, etcd, sqlite, d1/],
    [["sqlite", "--schema", "x"], /--schema is not for fence sqlite/],
    [["postgres", "--nodes", "0-9"], /--nodes is for ddl, not for fence/],
  ]) {
    const { stderr, code } = await frazil(["fence", ...args]);
    assert.deepEqual([code, message.test(stderr)], [2, true], stderr);
  }
  const { stderr, code } = await frazil(["fence", "postgres", "--scope", "a'b"]);
  assert.deepEqual([code, /^frazil: INVALID_ARGUMENT: --scope must be /.test(stderr)], [1, true], stderr);
});
