// What `npx frazil fence` prints for SQLite and D1, and what it says about mistakes. `stores/fence-command.test.mjs` runs the others.
import assert from "node:assert/strict";
import { test } from "node:test";
import { frazil } from "./cli.mjs";

/** What the command prints. */
async function printed(...args) {
  const { stdout, stderr, code } = await frazil(["fence", ...args]);
  assert.deepEqual([stderr, code], ["", 0], args.join(" "));
  return stdout;
}

test("sqlite and d1: the SQL raises the fence and nothing else", async () => {
  for (const store of ["sqlite", "d1"]) {
    const text = await printed(store);
    assert.match(text, /^-- Raises the fence of the scope "default"/);
    assert.match(
      text,
      /\+ window_max_ms \+ 5000\) WHERE scope = 'default';\n-- Fails where there is no such scope:\nSELECT /,
    );
  }
});

test("a store that the command line cannot ask is told by code, and mistakes are told", async () => {
  for (const [args, message] of [
    [
      ["zookeeper", "--scope", "orders"],
      /by a program, which has its client: await store\.fence\(\{ scope: "orders" \}\)/,
    ],
    [["durable-object"], /await store\.fence\(\{ scope: "default" \}\)/],
    [["pg"], /did you mean postgres\?\): npx frazil fence postgres --scope default/],
    [[], /fence needs one store, of postgres, mysql, redis, etcd, sqlite, d1/],
    [["sqlite", "--schema", "x"], /--schema is not for fence sqlite/],
    [["postgres", "--nodes", "0-9"], /--nodes is for ddl, not for fence/],
  ]) {
    const { stderr, code } = await frazil(["fence", ...args]);
    assert.deepEqual([code, message.test(stderr)], [2, true], stderr);
  }
  const { stderr, code } = await frazil(["fence", "postgres", "--scope", "a'b"]);
  assert.deepEqual([code, /^frazil: INVALID_ARGUMENT: --scope is /.test(stderr)], [1, true], stderr);
});
