// Segments of one tag in sequence and concurrently: after `close()`, after garbage collection, and of two copies of the package.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Segment } from "frazil/segment";
import { tools } from "../../scripts/tools.mjs";
import { FaultySegments } from "./faulty-store.mjs";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");
const run = promisify(execFile);
const commonjs = createRequire(import.meta.url)("frazil/segment");

/** Collects garbage until something is true. */
async function collectUntil(isTrue) {
  for (let tries = 0; tries < 100 && !isTrue(); tries++) {
    // What was looked at is kept until the end of the job.
    await sleep(10);
    collect();
  }
  assert.ok(isTrue());
}

// docs/internals/claims.md: 29
test("a counter that goes back between two segments of a tag: the second one begins above the first", async () => {
  const store = new FaultySegments();
  const saved = store.save();
  const options = { tag: "orders", step: 10, maxStep: 10, failoverSkip: 5 };
  const first = new Segment(store, options);
  assert.deepEqual(await first.nextMany(3), [1n, 2n, 3n]);
  first.close();
  store.restore(saved);
  const second = new Segment(store, options);
  const next = await second.next();
  assert.ok(next >= 16n && next <= 20n, `${next}: above 10, and 5 to 9 are skipped`);
  second.close();

  // A store that does not look.
  const third = new Segment(store, options);
  store.before = ({ attempt, count }) => ({ attempt, first: 4n, count });
  await assert.rejects(third.next(), { code: "STORE_REFUSED", hint: /^The counter of the store went back/ });
  store.before = () => {};
  assert.ok((await third.next()) > next);
  assert.notEqual(store.requests.at(-1).attempt, store.requests.at(-2).attempt);
});

test("an unclosed segment that is garbage-collected leaves its tag free, and asks no more", async () => {
  const store = new FaultySegments();
  let asked = 0;
  store.before = () => {
    asked++;
    throw new Error("the store is away");
  };
  const forgotten = () => {
    const segment = new Segment(store, { tag: "orders" });
    segment.tryNext();
    return new WeakRef(segment);
  };
  const segment = forgotten();
  assert.throws(() => new Segment(store, { tag: "orders" }), { code: "STATE_CONFLICT" });
  await collectUntil(() => segment.deref() === undefined);
  const other = new Segment(store, { tag: "orders" });
  // A pause is at most 5 seconds; the first ones are shorter.
  await sleep(1000);
  const before = asked;
  await sleep(1500);
  assert.equal(asked, before);
  other.close();
});

test("a call that waits keeps its segment, and so does a method that is detached", async () => {
  const store = new FaultySegments();
  let answer;
  store.before = () => new Promise((resolve) => (answer = resolve));
  const waits = new Segment(store, { tag: "orders" }).next();
  const { tryNext } = new Segment(store, { tag: "others" });
  for (let turn = 0; turn < 10; turn++) {
    collect();
    await sleep(5);
  }
  answer();
  assert.equal(await waits, 1n);
  assert.throws(() => new Segment(store, { tag: "others" }), { code: "STATE_CONFLICT" });
  assert.equal(tryNext(), undefined);
});

test("two copies of the package do not open one tag of a store object at once", async () => {
  const store = new FaultySegments();
  const saved = store.save();
  assert.notEqual(commonjs.Segment, Segment);
  const orders = new commonjs.Segment(store, { tag: "orders", step: 10 });
  assert.throws(() => new Segment(store, { tag: "orders" }), { code: "STATE_CONFLICT" });
  assert.equal(await orders.next(), 1n);
  orders.close();
  store.restore(saved);
  assert.ok((await new Segment(store, { tag: "orders" }).next()) > 10n);
});

// docs/internals/claims.md: 28
test("a program that gives all objects a stride: a store of the package allocates one after the other", async () => {
  const folder = mkdtempSync(join(tmpdir(), "frazil-"));
  try {
    const program = `import { DatabaseSync } from "node:sqlite";
import { Segment } from "frazil/segment";
import { SqliteStore } from "frazil/stores/sqlite";
const store = new SqliteStore(new DatabaseSync(${JSON.stringify(join(folder, "numbers.db"))}));
await store.migrate();
await store.initSegment({ tag: "orders" });
Object.prototype.stride = 7;
console.log((await new Segment(store, { tag: "orders" }).nextMany(3)).join());`;
    const env = { ...process.env, NODE_NO_WARNINGS: "1" };
    const cwd = fileURLToPath(new URL(".", import.meta.url));
    const { stdout } = await run(tools.node22, ["--input-type=module", "-e", program], { cwd, env, timeout: 30_000 });
    assert.equal(stdout, "1,2,3\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
