// A generator inside a Durable Object, in workerd: no ID of an object repeats, however it ends and whatever its clock does.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Layout } from "frazil";
import { DATES, WorkerServer } from "../stores/workerd/server.mjs";

const entry = fileURLToPath(new URL("object.mjs", import.meta.url));
const start = (options = {}) =>
  WorkerServer.startWith(entry, { objects: { FRAZIL: "Room" }, classes: { Room: "sqlite" }, ...options });
const layout = Layout.named("edge");

async function ask(worker, call, given, more = {}) {
  const response = await fetch(worker.url, { method: "POST", body: JSON.stringify({ call, given, ...more }) });
  const { value, error } = await response.json();
  if (error === undefined) return value;
  throw Object.assign(new Error(error.message), error);
}

/** Mints in an object that ends again and again, by `end`. Resolves to all IDs, in order. */
async function mintedOver(ends, { vars, end, more }) {
  const worker = await start({ vars });
  const ids = [];
  try {
    for (let round = 0; round <= ends; round++) {
      ids.push(...(await ask(worker, "wait", 2000, more)));
      if (round < ends) await end(worker, ids);
    }
  } finally {
    await worker.stop();
  }
  return ids;
}

const abort = async (worker, ids) => {
  ids.push(...(await ask(worker, "mintAndAbort", 50).catch(() => [])));
  await new Promise((resolve) => setTimeout(resolve, 20));
};
async function kill(worker) {
  await worker.kill();
  await worker.start();
}
const repeatsIn = (ids) => ids.length - new Set(ids).size;
const isIncreasing = (ids) => ids.every((id, at) => at === 0 || BigInt(id) > BigInt(ids[at - 1]));

// docs/safety.md: 30
test("an object that is aborted goes on above every ID of the one before", async () => {
  const ids = await mintedOver(8, { end: abort });
  assert.ok(ids.length >= 18_000);
  assert.equal(repeatsIn(ids), 0);
  assert.ok(isIncreasing(ids));
});

test("so does one whose workerd is killed, and starts again on the same storage", async () => {
  const ids = await mintedOver(3, { end: kill });
  assert.equal(repeatsIn(ids), 0);
  assert.ok(isIncreasing(ids));
});

test("a twin whose ceiling is not kept repeats IDs, and the check finds it", async () => {
  // The clock stands still, so that an object that starts again is where the one before was.
  const more = { held: Date.now() };
  assert.ok(repeatsIn(await mintedOver(2, { vars: { DEFECT: true }, end: abort, more })) > 0);
});

// docs/safety.md: 30
test("a transaction of the program that is rolled back takes the ceiling back, which is noticed", async () => {
  const worker = await start();
  const more = { held: Date.now() };
  try {
    const ids = await ask(worker, "afterRollback", 500, more);
    await ask(worker, "mintAndAbort", 0, more).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 50));
    // At the same time, which is below the ceiling.
    ids.push(...(await ask(worker, "mint", 2000, more).catch(() => [])));
    ids.push(...(await ask(worker, "mint", 500, { held: more.held + 3000 })));
    assert.equal(repeatsIn(ids), 0);
    const again = await ask(worker, "describe");
    assert.ok(again.rows[0].until_ms > layout.decode(ids.at(-1)).timestampMs);
  } finally {
    await worker.stop();
  }
});

test("node ids of parts, and layouts with a clock field", async () => {
  const worker = await start();
  try {
    const [parts, clocks] = await ask(worker, "layouts");
    assert.equal(parts[1], 3 * 32 + 17);
    assert.equal(Layout.named("twitter").decode(parts[0]).node, parts[1]);
    assert.equal(Layout.named("multi-clock").decode(clocks[0]).node, 5);
  } finally {
    await worker.stop();
  }
});

test("a clock that is set back refuses until it is at the ceiling, and repeats nothing", async () => {
  const worker = await start();
  try {
    const ids = await ask(worker, "mint", 100);
    await assert.rejects(ask(worker, "mint", 300, { offset: -3_600_000 }), (error) => {
      assert.equal(error.code, "CLOCK_BACKWARD");
      return true;
    });
    await ask(worker, "mintAndAbort", 0, { offset: -3_600_000 }).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 20));
    await assert.rejects(ask(worker, "mint", 1, { offset: -3_600_000 }), { code: "CLOCK_BACKWARD" });
    ids.push(...(await ask(worker, "wait", 100, { offset: 0 })));
    assert.equal(repeatsIn(ids), 0);
    assert.ok(isIncreasing(ids));
  } finally {
    await worker.stop();
  }
});

for (const date of DATES) {
  test(`${date}: one generator for each object, scope and node id; the clock stands still for an event`, async () => {
    const worker = await start({ date });
    try {
      const held = Date.now();
      const ids = await ask(worker, "mint", 5000, { held });
      assert.equal(repeatsIn(ids), 0);
      const last = layout.decode(ids.at(-1));
      assert.equal(last.node, 7);
      assert.ok(last.timestampMs <= held + 1000);
      const { isSame, node, layout: fields, rows } = await ask(worker, "describe");
      assert.deepEqual([isSame, node, fields, rows.length], [true, 7, 3, 1]);
      assert.ok(rows[0].until_ms > last.timestampMs);
      const written = await ask(worker, "writes", 2500);
      assert.ok(written >= 1 && written <= 5, `${written} writes in 2.5 s`);
      const other = await ask(worker, "mint", 1, { name: "another room" });
      assert.equal(layout.decode(other[0]).node, 7);
    } finally {
      await worker.stop();
    }
  });
}

test("what is wrong is said with the field and the rule", async () => {
  const worker = await start();
  try {
    const codeOf = (call, given) =>
      ask(worker, call, given).then(
        () => undefined,
        ({ message }) => message.split(":")[0],
      );
    assert.equal(await codeOf("wrong", { options: {} }), "NODE_REQUIRED");
    assert.equal(await codeOf("wrong", { options: { node: 7, scope: "1" } }), "INVALID_OPTION");
    assert.equal(await codeOf("wrong", { options: { node: 7, nod: 1 } }), "INVALID_OPTION");
    assert.equal(await codeOf("wrong", { options: { node: 1 << 14 } }), "INVALID_NODE");
    assert.equal(await codeOf("wrong", { options: { node: 7, maxLeadMs: 1001 } }), undefined);
    assert.equal(await codeOf("wrong", { options: { node: 8, maxLeadMs: 1001 } }), "INVALID_OPTION");
    assert.equal(await codeOf("wrong", { options: { node: 7, layout: "default" } }), "STATE_CONFLICT");
    assert.equal(await codeOf("wrong", { options: { node: 7 }, isState: false }), "INVALID_ARGUMENT");
    await ask(worker, "mint", 1);
    assert.equal(await codeOf("otherLayout"), "LAYOUT_MISMATCH");
  } finally {
    await worker.stop();
  }
});
