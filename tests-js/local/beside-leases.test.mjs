// `Snowflake.local()` beside leases in one column: by default they share no node id.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { PGlite } from "@electric-sql/pglite";
import { Layout, Snowflake } from "frazil";
import { layoutText, lease } from "frazil/lease";
import { PostgresStore } from "frazil/stores/postgres";
import { repeats } from "../generator/broken-generators.mjs";
import { testFolder } from "./minting-process.mjs";

const epochMs = 1704067200000;
const time = { kind: "time", bits: 41 };
const sequence = { kind: "sequence", bits: 8 };
const withNode = (...parts) =>
  new Layout({ epochMs, fields: [{ ...time, bits: 33 }, ...parts, sequence], tickMs: 1000 });
const node = (bits, name) => ({ kind: "node", bits, ...(name && { name }) });

/** Layouts by how many bits their node ids have. */
const LAYOUTS = {
  0: withNode(),
  1: withNode(node(1)),
  3: withNode(node(3)),
  "3 in two parts": withNode(node(1, "datacenter"), node(2, "worker")),
  10: Layout.named("default"),
  14: withNode(node(14)),
  22: withNode(node(22)),
  32: new Layout({ epochMs, tickMs: 1000, fields: [{ ...time, bits: 30 }, node(32), { ...sequence, bits: 1 }] }),
};

const database = new PGlite();
const store = new PostgresStore(database);
await store.migrate();

const hex = (count) => count.toString(16).padStart(32, "0");

for (const [at, [name, layout]] of Object.entries(LAYOUTS).entries()) {
  // docs/internals/claims.md: 33
  test(`node bits: ${name}. local() has the last one, and leases have the others`, async (t) => {
    const count = layout.plan().nodes;
    const last = count - 1;
    const ids = Snowflake.local({ layout, dir: testFolder(t, "beside"), startWaitMs: 10_000, maxWaitMs: 10_000 });
    assert.equal(ids.node, count === 1 ? undefined : last);
    assert.equal(ids.decode(ids.next()).node ?? 0, last);
    ids.close();

    const scope = `bits-${at}`;
    await store.init({ scope, layout });
    const { rows } = await database.query("SELECT * FROM frazil_scopes WHERE scope = $1", [scope]);
    assert.deepEqual([rows[0].node_from, Number(rows[0].node_to)], [0, Math.max(last - 1, 0)]);
    const granted = [];
    const acquire = (number, preferred) =>
      store.acquire({
        scope,
        layout: layoutText(layout),
        grant: hex(number),
        nonce: hex(number),
        owner: "test",
        windowMs: 60_000,
        ...(preferred !== undefined && { node: preferred }),
      });
    // The last one is not to be had by asking for it either.
    for (let number = 0; number < Math.min(count + 1, 10); number++) granted.push(await acquire(number, last));
    const nodes = granted.filter((answer) => answer.granted).map((answer) => answer.node);
    if (count > 1) assert.ok(!nodes.includes(last), `${nodes}`);
    if (count < 10) {
      assert.deepEqual(
        nodes,
        Array.from({ length: Math.max(last, 1) }, (_, id) => id),
      );
      assert.equal(granted.at(-1).reason, "exhausted");
    }
    // An explicit range may include it.
    await store.init({ scope: `${scope}-all`, layout, nodes: { from: last, to: last } });
  });
}

/** Mints in a process of its own, by the state file, until it is told to end. Resolves to its IDs, and to its node id. */
const MINTING = `
  import { Snowflake } from "frazil";
  const ids = Snowflake.local({ dir: process.argv[1], startWaitMs: 10_000 });
  ids.next();
  process.stdout.write(ids.node + "\\n");
  process.stdin.once("data", async () => process.stdout.write((await ids.nextManyStringsAsync(100_000)).join("\\n")));
`;

/** How many IDs repeat if a process with `local()` and a leased generator mint at the same time. */
async function repeatsBeside(t, scope) {
  const args = ["--input-type=module", "-e", MINTING, testFolder(t, "beside")];
  const env = { ...process.env, FRAZIL_BACKEND: "native" };
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname, env, stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "readable");
  const leased = await lease(store, { scope });
  child.stdin.end("go");
  const theirs = text(child.stdout);
  const ours = await leased.nextManyStringsAsync(400_000);
  await leased.close();
  const [, ...ids] = (await theirs).split("\n");
  assert.equal(ids.length, 100_000);
  return repeats([...ours, ...ids]);
}

// docs/internals/claims.md: 33
test("a process with local() and one with a lease, in one column, repeat nothing; if the scope has the last node id too, they do", async (t) => {
  await store.init({ scope: "default", layout: "default" });
  assert.equal(await repeatsBeside(t, "default"), 0);
  // The mutant: a scope that was told to grant the node id of the state file.
  await store.init({ scope: "broken", layout: "default", nodes: { from: 1023, to: 1023 } });
  let found = 0;
  for (let round = 0; round < 20 && found === 0; round++) found = await repeatsBeside(t, "broken");
  assert.ok(found > 0, "the checker must catch the mutant");
});

test("a static node id that a lease holds conflicts, and one that merely lies in the range of its scope does not", async () => {
  await store.init({ scope: "shop", layout: "default" });
  const leased = await lease(store, { scope: "default", node: 5 });
  assert.throws(() => new Snowflake({ node: leased.node }), { code: "STATE_CONFLICT", field: "node" });
  assert.equal(typeof new Snowflake({ node: leased.node + 1, maxWaitMs: 1000 }).next(), "bigint");
  await leased.close();
});
