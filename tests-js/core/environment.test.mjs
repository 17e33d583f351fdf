// The package and its environment: layouts and node ids, the process, memory that grows, several copies of the package, and imports without
// side effects.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { Layout, Snowflake } from "frazil";
import { repeats } from "../generator/broken-generators.mjs";
import { backend, from, native, port, positions, scripted, start, times } from "../generator/scripted-clock.mjs";
import { copyPackage, inNewProcess } from "./package-copy.mjs";

const require = createRequire(import.meta.url);

// Layouts and node ids

test("a layout can be a name, a plain object or a Layout, with or without another epoch", () => {
  const epochMs = 1609459200000;
  const twitter = Layout.named("twitter");
  const node = { datacenter: 3, worker: 17 };
  const now = () => start;
  const made = [
    new Snowflake({ layout: "twitter", epochMs, node, now }),
    new Snowflake({ layout: twitter, epochMs, node, now }),
    new Snowflake({ layout: twitter.with({ epochMs }), node, now }),
    new Snowflake({ layout: { ...twitter.toJSON(), epochMs }, node: 113, now }),
  ];
  const [id, ...others] = made.map((ids) => ids.next());
  assert.deepEqual(others, [id, id, id]);
  assert.equal(id, twitter.with({ epochMs }).compose({ timestampMs: start, node, sequence: 0 }));
  for (const ids of made) {
    assert.ok(ids.layout instanceof Layout);
    assert.equal(ids.layout.epochMs, epochMs);
    assert.equal(ids.node, 113);
    assert.deepEqual(ids.decode(id).parts, node);
    assert.equal(ids.decode(id).timestampMs, start);
  }
});

test("without a layout the default one is used", () => {
  const { ids } = scripted();
  assert.deepEqual(ids.layout.toJSON(), Layout.named("default").toJSON());
  assert.equal(ids.next(), (BigInt(start - 1704067200000) << 22n) | (7n << 12n));
});

test("every named layout decodes the IDs it mints to their time, node id and sequence", () => {
  for (const name of Layout.names) {
    const layout = Layout.named(name);
    const plan = layout.plan();
    const hasNode = plan.nodes > 1;
    const nodeId = plan.nodes - 1;
    // The time field of `baidu` ended in 2024.
    const ms = Math.min(start, plan.lastDate.getTime());
    const ids = new Snowflake({ layout: name, node: hasNode ? nodeId : "none", now: () => ms });
    const [a, b] = [ids.next(), ids.next()].map(ids.decode);
    assert.deepEqual(
      [a.node, b.node, ids.node],
      hasNode ? [nodeId, nodeId, nodeId] : [undefined, undefined, undefined],
      name,
    );
    assert.equal(a.timestampMs, ms - ((ms - layout.epochMs) % layout.tickMs), name);
    assert.deepEqual([a.sequence, b.sequence], [0, 1], name);
  }
});

test("the smallest and the largest node id are accepted", () => {
  for (const node of [0, 1023]) assert.equal(scripted({ node }).ids.decode(scripted({ node }).ids.next()).node, node);
});

test("FRAZIL_BACKEND selects the backend", () => {
  assert.equal(backend, process.env.FRAZIL_BACKEND ?? "native");
  assert.equal(new Snowflake({ node: 7 }).backend, backend);
  assert.equal(new Snowflake({ node: 7 }).stats().backend, backend);
});

// The process

test("where the host has no random numbers, only the calls that draw some are refused, by name", async () => {
  const script = `
    delete globalThis.crypto;
    const { Snowflake } = await import("frazil");
    const { errorOf } = await import("./tests-js/base/bad-input.mjs");
    const plain = new Snowflake({ node: 7 }).nextMany(2).length;
    const errors = [];
    for (const source of [undefined, {}, { getRandomValues: 5 }]) {
      globalThis.crypto = source;
      const { code, field, message } = await errorOf(() => new Snowflake({ node: 8, sequenceStart: "random" }).next());
      errors.push([code, field, message]);
    }
    process.stdout.write(JSON.stringify([plain, errors]));
  `;
  const refused = (shown) => [
    "INVALID_OPTION",
    "globalThis.crypto",
    `INVALID_OPTION: globalThis.crypto must have getRandomValues, got ${shown}`,
  ];
  assert.deepEqual(await inNewProcess(script), [2, ["undefined", "an object", "an object"].map(refused)]);
});

test("the first ID of a process comes without an error, and has a time after the lead of a predecessor", async () => {
  const script = `
    import { Snowflake } from "frazil";
    const ids = new Snowflake({ node: 28 });
    const id = ids.next();
    process.stdout.write(JSON.stringify({ ms: ids.decode(id).timestampMs, start: performance.timeOrigin, waitedMs: ids.stats().waitedMs }));
  `;
  for (let round = 0; round < 5; round++) {
    const { ms, start } = await inNewProcess(script);
    assert.ok(ms > start + 10, `${ms - start} ms after the start, although the predecessor had a lead of 10 ms`);
  }
});

test("an import reads no clock, draws no random numbers, and loads neither addon nor WebAssembly", async () => {
  const script = `
    const asked = [];
    const refuse = (name) => function () {
      asked.push(name);
      throw new Error(name);
    };
    Date.now = refuse("Date.now");
    performance.now = refuse("performance.now");
    Object.defineProperty(performance, "timeOrigin", { get: refuse("timeOrigin") });
    Math.random = refuse("Math.random");
    crypto.getRandomValues = refuse("getRandomValues");
    crypto.randomUUID = refuse("randomUUID");
    process.emitWarning = refuse("emitWarning");
    process.dlopen = refuse("dlopen");
    WebAssembly.Module = refuse("WebAssembly.Module");
    WebAssembly.Instance = refuse("WebAssembly.Instance");
    const { Layout, Snowflake } = await import("frazil");
    const { decode } = await import("frazil/decode");
    Layout.named("twitter").decode("1541815603606036480").date;
    decode(1n, "default");
    const untouched = asked.length === 0 && globalThis[Symbol.for("frazil")] === undefined;
    try {
      new Snowflake({ node: 7 });
    } catch {}
    process.stdout.write(JSON.stringify({ untouched, asked: asked.length > 0 }));
  `;
  // The traps must work: the first generator triggers them.
  assert.deepEqual(await inNewProcess(script), { untouched: true, asked: true });
});

test("an unknown FRAZIL_BACKEND is refused by the first generator, not by the import", async () => {
  const script = `
    import { ClockError, Layout, Snowflake } from "frazil";
    const year = Layout.named("twitter").decode("1541815603606036480").date.getUTCFullYear();
    const errors = [];
    for (let attempt = 0; attempt < 2; attempt++) {
      try {
        new Snowflake({ node: 7 });
      } catch (error) {
        errors.push(error);
      }
    }
    process.stdout.write(JSON.stringify({ year, errors }));
  `;
  const { year, errors } = await inNewProcess(script, { env: { FRAZIL_BACKEND: "nonsense" } });
  assert.equal(year, 2022);
  assert.equal(errors.length, 2);
  for (const error of errors) {
    const { code, field, value, rule } = error;
    assert.deepEqual(
      [code, field, value, rule],
      ["INVALID_OPTION", "FRAZIL_BACKEND", '"nonsense"', 'must be "native" or "wasm"'],
    );
  }
});

// Memory that grows

test("growth of WebAssembly memory between two calls has no effect", {
  skip: native && "does not apply: the addon's frame never moves",
}, () => {
  const { ids } = scripted();
  const issued = [];
  for (let round = 0; round < 40; round++) {
    port().binding.memory.grow(1);
    issued.push(ids.next());
    if (round % 8 === 0) issued.push(...ids.nextMany(3));
  }
  assert.deepEqual(positions(issued), from(0, issued.length));
});

test("growth of WebAssembly memory during a call has no effect", {
  skip: native && "does not apply: the addon's frame never moves",
}, async () => {
  const now = () => {
    port().binding.memory.grow(1);
    return start;
  };
  const ids = new Snowflake({ node: 7, maxWaitMs: 0, now });
  const issued = [...ids.fill(new BigUint64Array(20_000)), ...ids.nextMany(10_000), ids.next(), ids.next(), ids.next()];
  issued.push(await ids.nextAsync(), ...(await ids.nextManyAsync(5000)));
  assert.deepEqual(positions(issued), from(0, issued.length));
  assert.throws(() => ids.nextMany(45_056 - issued.length + 1), { code: "SEQUENCE_EXHAUSTED", retryAfterMs: 1 });
});

// Several copies of the package

test("ESM import and CommonJS require give the same class", () => assert.equal(require("frazil").Snowflake, Snowflake));

test("the warning of a page comes with the first generator that opens, and not with a refusal", async (t) => {
  globalThis.document = {};
  t.after(() => delete globalThis.document);
  const warn = t.mock.method(console, "warn", () => {});
  const { Snowflake: Copy } = await import(`${copyPackage()}/dist/inline.mjs`);
  assert.throws(() => new Copy({}), { code: "NODE_REQUIRED" });
  assert.equal(warn.mock.callCount(), 0);
  for (const node of [953, 954]) new Copy({ node });
  assert.equal(warn.mock.callCount(), 1);
  assert.match(warn.mock.calls[0].arguments[0], /^frazil: node is 953 in a page: /);
});

// docs/internals/claims.md: 3
test("a second copy of the package shares the states of the first", async (t) => {
  const folder = copyPackage();
  const before = globalThis[Symbol.for("frazil")];
  const copies = [
    await import(`${folder}/dist/node.mjs`),
    await import(`${folder}/dist/inline.mjs`),
    require(`${folder}/dist/inline.cjs`),
  ];
  const classes = [Snowflake, ...copies.map((copy) => copy.Snowflake)];
  assert.equal(new Set(classes).size, 4, "the classes must be from different copies");
  const generators = classes.map((each) => new each({ node: 29, maxWaitMs: 1000 }));
  const issued = times(40_000, (at) => generators[at % 4].next());
  assert.equal(repeats(issued), 0);
  assert.equal(globalThis[Symbol.for("frazil")], before);
  assert.deepEqual(
    generators.map((ids) => ids.backend),
    [backend, backend, backend, backend],
  );
  // Waiting also works with errors of another copy.
  const now = () => start;
  t.mock.method(performance, "now", () => 0);
  const stalled = new classes[1]({ node: 7, maxLeadMs: 0, maxWaitMs: 2, maxAsyncWaitMs: 2, now });
  stalled.nextMany(4096);
  assert.throws(stalled.next, { code: "SEQUENCE_EXHAUSTED" });
  await assert.rejects(stalled.nextAsync(), { code: "SEQUENCE_EXHAUSTED" });
  assert.equal(stalled.stats().waitedMs, 4);
});

test("a program without a clock of `performance`, or with one that shows no number, waits as any other", async () => {
  const script = `
    const { Snowflake } = await import("frazil");
    const ids = new Snowflake({ node: 31, maxAsyncWaitMs: 2000 });
    const found = [];
    for (const value of [undefined, null, {}, { now: () => "5" }, { now: () => 5n }, { now: () => Infinity }, { now: () => -5 }, { now() { throw new Error("none"); } }]) {
      Object.defineProperty(globalThis, "performance", { value, configurable: true });
      found.push(...(await ids.nextManyAsync(60_000)));
    }
    const { waitedMs } = ids.stats();
    // It is taken away in the middle of a wait.
    Object.defineProperty(globalThis, "performance", { value: { now: () => 7 }, configurable: true });
    const waits = ids.nextManyAsync(60_000);
    delete globalThis.performance;
    found.push(...(await waits));
    // The wall clock that stands in for it was set since it was read first.
    Object.defineProperty(globalThis, "performance", { value: { now: () => 8 }, configurable: true });
    const wall = Date.now;
    Date.now = () => wall() + 3_600_000;
    const later = ids.nextManyAsync(60_000);
    delete globalThis.performance;
    found.push(...(await later.catch(({ code }) => [code])));
    process.stdout.write(JSON.stringify({ count: new Set(found).size, hasWaited: waitedMs > 0 && ids.stats().waitedMs < 2000 }));
  `;
  assert.deepEqual(await inNewProcess(script), { count: 600_000, hasWaited: true });
});

test("the copy that is loaded first provides the states for the next one", async () => {
  const script = `
    const copy = await import(${JSON.stringify(`${copyPackage()}/dist/inline.mjs`)});
    const theirs = new copy.Snowflake({ node: 30, maxWaitMs: 1000 });
    const first = globalThis[Symbol.for("frazil")];
    const { Snowflake } = await import("frazil");
    const ours = new Snowflake({ node: 30, maxWaitMs: 1000 });
    const issued = Array.from({ length: 20_000 }, (_, at) => (at % 2 === 0 ? ours : theirs).next());
    const same = globalThis[Symbol.for("frazil")] === first;
    process.stdout.write(JSON.stringify({ same, backend: ours.backend, repeats: issued.length - new Set(issued).size }));
  `;
  // The first copy has no addon, so none may be forced.
  const env = { FRAZIL_BACKEND: "wasm" };
  assert.deepEqual(await inNewProcess(script, { env }), { same: true, backend: "wasm", repeats: 0 });
});

test("a copy with another version of the frame is refused, and Layout still works", async () => {
  const script = `
    globalThis[Symbol.for("frazil")] = { abi: 4711, connect() { throw new Error("of another version"); } };
    const { Layout, Snowflake } = await import("frazil");
    const year = Layout.named("twitter").decode("1541815603606036480").date.getUTCFullYear();
    let error;
    try {
      new Snowflake({ node: 7 });
    } catch (caught) {
      error = caught;
    }
    process.stdout.write(JSON.stringify({ year, error }));
  `;
  const { year, error } = await inNewProcess(script);
  assert.equal(year, 2022);
  assert.equal(error.code, "STATE_CONFLICT");
  assert.equal(error.name, "ConfigError");
  assert.match(error.message, /4711/);
});
