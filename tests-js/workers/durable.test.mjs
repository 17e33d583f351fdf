// A generator inside a Durable Object, in workerd: no ID repeats, however the object ends and whatever its clock does.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Layout } from "frazil";
import { DATES, WorkerServer } from "../stores/workerd/server.mjs";

const entry = fileURLToPath(new URL("durable-worker.mjs", import.meta.url));
const start = (options = {}) =>
  WorkerServer.startWith(entry, { objects: { FRAZIL: "Room" }, classes: { Room: "sqlite" }, ...options });
const layout = Layout.named("edge");

async function ask(worker, call, given, more = {}) {
  const response = await fetch(worker.url, { method: "POST", body: JSON.stringify({ call, given, ...more }) });
  const { value, error } = await response.json();
  if (error === undefined) return value;
  throw Object.assign(new Error(error.message), error);
}

/** Makes a call after which an object ends, and waits until it has ended. */
async function askAndEnd(worker, call, given, more) {
  const before = await ask(worker, "ended");
  const [answer] = await Promise.allSettled([ask(worker, call, given, more)]);
  // Another error: the call was refused, and the object goes on.
  if (answer.reason && !/ended by a test/.test(answer.reason.message)) throw answer.reason;
  while ((await ask(worker, "ended")) === before) await sleep(5);
  if (answer.reason) throw answer.reason;
  return answer.value;
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
  ids.push(...(await askAndEnd(worker, "mintAndAbort", 50).catch(() => [])));
};
async function kill(worker) {
  await worker.kill();
  await worker.start();
}
const repeatsIn = (ids) => ids.length - new Set(ids).size;
const isIncreasing = (ids) => ids.every((id, at) => at === 0 || BigInt(id) > BigInt(ids[at - 1]));

// docs/internals/claims.md: 30
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

test("a mutant whose ceiling is not kept repeats IDs, and the check finds it", async () => {
  // The clock stands still, so that an object that starts again is where the one before was.
  const more = { held: Date.now() };
  assert.ok(repeatsIn(await mintedOver(2, { vars: { DEFECT: true }, end: abort, more })) > 0);
});

// docs/internals/claims.md: 30
test("a transaction of the program that is rolled back takes the ceiling back, which is noticed", async () => {
  const worker = await start();
  const more = { held: Date.now() };
  try {
    const ids = await ask(worker, "afterRollback", 500, more);
    await askAndEnd(worker, "mintAndAbort", 0, more).catch(() => {});
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

for (const call of ["oneByOneAfterRollback", "abortedInRollback"]) {
  // docs/internals/claims.md: 30
  test(`no ID that was reserved in a transaction is handed out after its rollback and again later: ${call}`, async () => {
    const worker = await start();
    const more = { held: Date.now() };
    try {
      const ids = await ask(worker, call, 10, more);
      await askAndEnd(worker, "mintAndAbort", 0, more).catch(() => {});
      ids.push(...(await ask(worker, "mint", 20_000, more).catch(() => [])));
      assert.equal(repeatsIn(ids), 0);
    } finally {
      await worker.stop();
    }
  });
}

// docs/internals/claims.md: 30
test("two generators of one object, as two copies of the package have them, repeat nothing, and one of them mints", async () => {
  const worker = await start();
  try {
    const held = Date.now();
    assert.equal(repeatsIn(await ask(worker, "takesTurns", 10, { held, name: "turns" })), 0);
    const minted = await ask(worker, "mintsInTurns", 3000, { name: "both" });
    assert.equal(repeatsIn(minted.flat()), 0);
    assert.ok(minted.flat().length > 100, `${minted.map((ids) => ids.length)}`);
    const inOneTime = await ask(worker, "mintsInOneTime", 3000, { name: "one" });
    assert.equal(repeatsIn(inOneTime.flat()), 0);
    assert.ok(inOneTime[0].length > 100, `${inOneTime.map((ids) => ids.length)}`);
    assert.equal(inOneTime[1].length, 0);
  } finally {
    await worker.stop();
  }
});

test("a generator with a static node id, in the same isolate, has nothing to do with it", async () => {
  const worker = await start();
  try {
    assert.equal((await ask(worker, "besideStatic")).length, 3);
  } finally {
    await worker.stop();
  }
});

test("an object that starts again at once is refused for what is left of a second, and looking at it writes nothing", async () => {
  const worker = await start();
  const held = Date.now();
  try {
    assert.deepEqual(await ask(worker, "health", undefined, { held }), { ok: true, tables: 0 });
    await askAndEnd(worker, "mintAndAbort", 1, { held }).catch(() => {});
    const { retryAfterMs, ...health } = await ask(worker, "health", undefined, { held });
    assert.deepEqual(health, { ok: false, code: "CLOCK_BACKWARD", tables: 1 });
    assert.ok(retryAfterMs > 0 && retryAfterMs <= 1001, `${retryAfterMs} ms`);
    const before = await ask(worker, "describe", undefined, { held });
    for (let at = 0; at < 5; at++) await assert.rejects(ask(worker, "mint", 1, { held }), { code: "CLOCK_BACKWARD" });
    assert.deepEqual(await ask(worker, "describe", undefined, { held }), before);
    await ask(worker, "mint", 1, { held: held + retryAfterMs });
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
    await askAndEnd(worker, "mintAndAbort", 0, { offset: -3_600_000 }).catch(() => {});
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
      assert.ok(written >= 1 && written <= 4, `${written} writes in 2.5 s`);
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
    assert.equal(await codeOf("wrong", { options: { node: 7, maxLeadMs: 1000, scope: "default" } }), undefined);
    assert.equal(await codeOf("wrong", { options: { node: 7, maxLeadMs: 999 } }), "STATE_CONFLICT");
    assert.equal(await codeOf("wrong", { options: { node: 7, sequenceStart: "random" } }), "STATE_CONFLICT");
    assert.equal(await codeOf("wrong", { options: { node: 8, maxLeadMs: 1001 } }), "INVALID_OPTION");
    assert.equal(await codeOf("wrong", { options: { node: 8, maxLeadMs: "10" } }), "INVALID_OPTION");
    await assert.rejects(ask(worker, "wrong", { options: { node: 8, maxLeadMs: "10" } }), /from 0 to 1000/);
    assert.equal(await ask(worker, "isSameWithDate", Layout.named("edge").epochMs), true);
    assert.deepEqual(await ask(worker, "wrongLead"), ["INVALID_OPTION", "maxLeadMs"]);
    assert.equal(await codeOf("wrong", { options: { node: 7, layout: "default" } }), "STATE_CONFLICT");
    assert.equal(await codeOf("wrong", { options: { node: 7 }, isState: false }), "INVALID_ARGUMENT");
    await ask(worker, "mint", 1);
    assert.equal(await codeOf("otherLayout"), "LAYOUT_MISMATCH");
  } finally {
    await worker.stop();
  }
});

// docs/internals/claims.md: 30
test("a state that is wrapped anew at each access has one generator", async () => {
  const worker = await start();
  try {
    const ids = await ask(worker, "wrapped", 200);
    assert.equal(repeatsIn(ids), 0);
    assert.ok(isIncreasing(ids));
  } finally {
    await worker.stop();
  }
});

test("generators that are opened while another one draws its random numbers, which grows the memory, do it no harm", async () => {
  const worker = await start();
  try {
    assert.match(await ask(worker, "openedMeanwhile"), /^\d+$/);
  } finally {
    await worker.stop();
  }
});

// docs/internals/claims.md: 30
test("one scope of an object takes one layout, whatever the node ids are", async () => {
  const worker = await start();
  try {
    assert.deepEqual(await ask(worker, "secondLayout"), ["STATE_CONFLICT", "LAYOUT_MISMATCH"]);
  } finally {
    await worker.stop();
  }
});

// docs/internals/claims.md: 30
test("after close() and deleteAll() the next generator of the object begins above what the first one has issued", async () => {
  const worker = await start();
  try {
    const held = Date.now();
    const ids = await ask(worker, "closeAndDelete", 50_000, { held });
    assert.equal(ids.pop(), "CLOCK_BACKWARD");
    ids.push(...(await ask(worker, "mint", 50_000, { held: held + 3000 })));
    assert.equal(repeatsIn(ids), 0);
    assert.ok(isIncreasing(ids));
  } finally {
    await worker.stop();
  }
});

// docs/internals/claims.md: 30
test("one ID after deleteAll() writes the ceiling again, and the next instance begins above it", async () => {
  const worker = await start();
  try {
    const held = Date.now();
    const ids = await askAndEnd(worker, "deleteAndMint", 50_000, { held });
    await assert.rejects(ask(worker, "mint", 1, { held }), { code: "CLOCK_BACKWARD" });
    ids.push(...(await ask(worker, "mint", 50_000, { held: held + 3000 })));
    assert.equal(repeatsIn(ids), 0);
  } finally {
    await worker.stop();
  }
});

// docs/internals/claims.md: 30
test("clocks that show nothing, a fraction, or a time far ahead for one reading", async () => {
  const worker = await start();
  try {
    const held = Date.now();
    const read = (clocks) => ask(worker, "readings", clocks);
    const [before, ...codes] = await read([held, 0, "NaN", -1, 1e300, held + 0.5]);
    const last = codes.pop();
    assert.deepEqual(codes, ["CLOCK_BEFORE_EPOCH", "INVALID_CLOCK", "CLOCK_BEFORE_EPOCH", "TIME_EXHAUSTED"]);
    assert.ok(BigInt(last) > BigInt(before));
    const [row] = await ask(worker, "sql", "SELECT until_ms FROM frazil_ceilings");
    assert.ok(Number.isInteger(row.until_ms));
    // What was issued a day ahead is behind nothing until then, also for the next instance.
    const [ahead, back] = await read([held + 86_400_000, held + 5]);
    assert.equal(layout.decode(ahead).timestampMs, held + 86_400_000);
    assert.equal(back, "CLOCK_BACKWARD");
    await askAndEnd(worker, "mintAndAbort", 0).catch(() => {});
    const [refused, next] = await read([held + 86_400_001, held + 86_402_000]);
    assert.equal(refused, "CLOCK_BACKWARD");
    assert.ok(BigInt(next) > BigInt(ahead));
  } finally {
    await worker.stop();
  }
});

/** IDs that an object mints in its constructor, in `blockConcurrencyWhile`, in an alarm and in a call, while it ends again and again. */
async function mintedEarly(vars) {
  const worker = await start({ vars: { EARLY: true, ...vars } });
  const ids = [];
  const firstMs = Date.now();
  try {
    for (let round = 0; round < 4; round++) {
      const held = firstMs + 3000 * round;
      await ask(worker, "setAlarm", undefined, { held });
      while (!(await ask(worker, "hasRung", undefined, { held }))) await sleep(5);
      ids.push(...(await ask(worker, "early", undefined, { held })));
      // They reach 78 ms ahead of the clock, at which the next instance begins.
      ids.push(...(await askAndEnd(worker, "mintAndAbort", 20_000, { held })));
      ids.push(...(await ask(worker, "early", undefined, { held: held + 40 })));
      await askAndEnd(worker, "mintAndAbort", 0, { held: held + 40 }).catch(() => {});
    }
  } finally {
    await worker.stop();
  }
  return ids;
}

// docs/internals/claims.md: 30
test("an object mints in its constructor, in blockConcurrencyWhile and in an alarm, and ends in between", async () => {
  const ids = await mintedEarly({});
  assert.equal(ids.length, 4 * 20_150);
  assert.equal(repeatsIn(ids), 0);
});

test("a mutant whose ceiling is not kept repeats them, and the check finds it", async () => {
  assert.ok(repeatsIn(await mintedEarly({ DEFECT: true })) > 0);
});

test("a table that is not the one of the package, and a ceiling that nothing is above, are refused for good", async () => {
  const worker = await start();
  const refusalIn = async (name) => {
    const failure = await ask(worker, "mint", 1, { name }).catch((error) => error);
    return failure.code;
  };
  try {
    for (const [name, columns] of [
      ["foreign", "x"],
      ["old", "scope TEXT, node INTEGER, layout TEXT, until_ms INTEGER"],
      ["no key", "scope TEXT, node INTEGER, layout TEXT, mark INTEGER, until_ms INTEGER"],
      [
        "more",
        "scope TEXT, node INTEGER, layout TEXT, mark INTEGER, until_ms INTEGER, x NOT NULL, PRIMARY KEY (scope, node)",
      ],
    ]) {
      await ask(worker, "sql", `CREATE TABLE frazil_ceilings (${columns})`, { name });
      assert.equal(await refusalIn(name), "STORE_REFUSED", name);
    }
    for (const [value, code] of [
      ["9007199254740991", "TIME_EXHAUSTED"],
      ["'abc'", "STORE_REFUSED"],
      ["1.5", "STORE_REFUSED"],
      ["-1", "STORE_REFUSED"],
    ]) {
      const name = `until ${value}`;
      await ask(worker, "mint", 1, { name });
      await ask(worker, "sql", `UPDATE frazil_ceilings SET until_ms = ${value}`, { name });
      await askAndEnd(worker, "mintAndAbort", 0, { name }).catch(() => {});
      assert.equal(await refusalIn(name), code, name);
    }
  } finally {
    await worker.stop();
  }
});

test("a storage that fails in the middle of a call: the error says how many IDs the array has", async () => {
  const worker = await start();
  try {
    const { code, issued, filled } = await ask(worker, "failsMidway", 50_000);
    assert.equal(code, "STORE_UNAVAILABLE");
    assert.equal(issued, filled);
    assert.ok(issued > 0, `${issued}`);
  } finally {
    await worker.stop();
  }
});

// The compatibility date 2024-09-01 has no FinalizationRegistry: there the memory stays taken.
test(`${DATES[1]}: generators of objects that have ended give their memory back`, async () => {
  const worker = await start({ date: DATES[1] });
  try {
    const sizes = [];
    // Collected as the runtime sees fit, so until four rounds in a row need no more memory.
    while (sizes.length < 60 && !(sizes.length > 4 && sizes.at(-1) === sizes.at(-4)))
      sizes.push(await ask(worker, "forget", 1000, { name: `${sizes.length}` }));
    assert.equal(sizes.at(-1), sizes.at(-4), `${sizes}`);
  } finally {
    await worker.stop();
  }
});
