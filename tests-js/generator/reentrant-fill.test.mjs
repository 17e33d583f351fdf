// docs/internals/claims.md: 19
// User code that runs inside a call, between reserving IDs and counting them as used, must not get the same IDs again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inNewProcess } from "../core/package-copy.mjs";
import { repeats } from "./broken-generators.mjs";
import { increasing, scripted, start, times } from "./scripted-clock.mjs";

/** A generator with a rest of a block, from which a fill takes first, and the list of all IDs. */
function collected(options) {
  const { ids, clock } = scripted({ maxLeadMs: 1000, ...options });
  const got = times(4, ids.next);
  const mint = () => got.push(ids.next());
  return { ids, clock, got, mint };
}

/** A broken generator: it counts IDs as used after it has delivered them. */
function countingLate() {
  const block = BigUint64Array.from({ length: 100 }, (_, at) => BigInt(at));
  let taken = 0;
  return {
    next: () => block[taken++],
    fill(target) {
      target.set(block.subarray(taken, taken + target.length));
      taken += target.length;
      return target;
    },
  };
}

/** Targets of subclasses whose methods and accessors mint. */
const targets = {
  "a subclass with its own set": (mint) =>
    class extends BigUint64Array {
      set(...given) {
        mint();
        super.set(...given);
        mint();
      }
    },
  "a subclass with its own length": (mint) =>
    class extends BigUint64Array {
      get length() {
        mint();
        return super.length;
      }
    },
  "a subclass with its own subarray, buffer, byteOffset and species": (mint) =>
    class extends BigUint64Array {
      static get [Symbol.species]() {
        mint();
        return BigUint64Array;
      }
      subarray(...given) {
        mint();
        return super.subarray(...given);
      }
      get buffer() {
        mint();
        return super.buffer;
      }
      get byteOffset() {
        mint();
        return super.byteOffset;
      }
    },
};
for (const [name, make] of Object.entries(targets)) {
  test(`fill and fillAsync into ${name} repeat no ID`, async () => {
    const { ids, got, mint } = collected();
    // Not while the target is created, and only a few times, which suffices.
    let armed = 0;
    const Target = make(() => {
      if (armed-- > 0) mint();
    });
    for (const size of [2, 3, 100, 10_000]) {
      const target = new Target(size);
      armed = 3;
      const full = size === 3 ? await ids.fillAsync(target) : ids.fill(target);
      armed = 0;
      assert.equal(full, target);
      got.push(...target);
      mint();
    }
    assert.equal(repeats(got), 0);
    assert.equal(ids.stats().issued, got.length);
  });
}

test("the same checker catches a generator that counts after it has delivered", () => {
  const ids = countingLate();
  const got = [];
  const Target = targets["a subclass with its own set"](() => got.push(ids.next()));
  got.push(...ids.fill(new Target(2)));
  assert.ok(repeats(got) > 0);
});

/** A program that replaces every built-in method that the package could call by one that mints, one after another. */
const instrumented = `
  import { Snowflake } from "frazil";
  let ms = ${start};
  const now = () => ms;
  const words = Object.getPrototypeOf(BigUint64Array.prototype);
  const arrays = Object.getPrototypeOf([].values());
  const places = [
    [words, ["set", "subarray", "slice", "fill", "length", "buffer", "byteOffset", "byteLength", Symbol.iterator, Symbol.toStringTag, "map"]],
    [BigUint64Array.prototype, ["set", "length", "subarray", "constructor", "slice"]],
    [words.constructor, [Symbol.species, "from"]],
    [ArrayBuffer.prototype, ["byteLength", "slice", "constructor", "resizable"]],
    [arrays, ["next"]],
    [Array, ["from", Symbol.species]],
    [Array.prototype, ["map", "push", "fill", "constructor", Symbol.iterator, "slice", "0"]],
    [BigInt.prototype, ["toString", "valueOf"]],
    [Math, ["min", "max"]],
    [Reflect, ["apply", "get"]],
    [Function.prototype, ["call", "apply"]],
    [Promise.prototype, ["then", "constructor"]],
    [Atomics, ["wait"]],
    [Object.prototype, ["then", "set", "get"]],
    [globalThis, ["BigUint64Array", "Array", "String", "BigInt", "Int32Array", "SharedArrayBuffer"]],
  ];
  const { defineProperty, getOwnPropertyDescriptor } = Object;
  const { apply, construct } = Reflect;
  const { push } = Array.prototype;
  let ids, got, armed;
  const mint = () => {
    if (armed <= 0 || ids === undefined) return;
    const left = armed;
    armed = 0;
    got[got.length] = ids.next();
    armed = left - 1;
  };
  function replacing(holder, key, work) {
    const had = getOwnPropertyDescriptor(holder, key);
    const held = had?.get ? undefined : had?.value;
    let fake;
    if (typeof held === "function") {
      fake = { configurable: true, writable: true, value: new Proxy(held, {
        apply: (of, self, given) => (mint(), apply(of, self, given)),
        construct: (of, given, target) => (mint(), construct(of, given, target)),
      }) };
      if (key === "constructor") fake = { configurable: true, get: () => (mint(), held), set() {} };
    } else fake = {
      configurable: true,
      get() { mint(); return had?.get ? apply(had.get, this, []) : undefined; },
      set(value) { mint(); defineProperty(this, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true }); },
    };
    defineProperty(holder, key, { __proto__: null, ...fake });
    const undo = () => had ? defineProperty(holder, key, { __proto__: null, ...had }) : delete holder[key];
    return undo;
  }
  const outcome = [];
  for (const [holder, keys] of places) for (const key of keys) for (const call of ["next", "nextString", "fill", "nextMany", "nextManyStrings", "async", "aborted"]) {
    const name = String(key) + " under " + call;
    armed = 0;
    got = [];
    ids = new Snowflake({ node: 7, maxLeadMs: 1000, maxWaitMs: 0, now });
    for (let at = 0; at < 4; at++) got[got.length] = ids.next();
    const list = [];
    let late;
    const target = new BigUint64Array(call === "fill" ? 5000 : 0);
    const controller = new AbortController();
    const undo = replacing(holder, key, call);
    armed = 5;
    try {
      if (call === "next") for (let at = 0; at < 30; at++) { const id = ids.next(); armed && (list[list.length] = id); armed || (list[list.length] = id); }
      else if (call === "nextString") for (let at = 0; at < 30; at++) list[list.length] = ids.nextString();
      else if (call === "fill") ids.fill(target);
      else if (call === "nextMany") late = ids.nextMany(5000);
      else if (call === "nextManyStrings") late = ids.nextManyStrings(5000);
      else if (call === "async") late = await ids.nextManyAsync(5000);
      else {
        const waiting = ids.nextManyAsync(1_000_000, { signal: controller.signal });
        // More IDs than the clock allows: the call is aborted after it has reserved some.
        waiting.catch(() => {});
        await null;
        ids.next.length;
        controller.abort();
        try { await waiting; } catch (error) { if (error.name !== "AbortError" && error.code === undefined) throw error; }
        for (let at = 0; at < 30; at++) list[list.length] = ids.next();
      }
    } catch (error) {
      undo();
      outcome.push({ name, error: String(error.stack) });
      continue;
    }
    armed = 0;
    undo();
    const all = [...got, ...list, ...(late ?? []), ...target].map(BigInt);
    const rest = [];
    for (let at = 0; at < 30; at++) rest.push(ids.next());
    all.push(...rest);
    const repeats = all.length - new Set(all).size;
    if (repeats > 0) outcome.push({ name, repeats });
    ids = undefined;
  }
  process.stdout.write(JSON.stringify(outcome));
`;
test("built-in methods that mint when the package calls them cause no repeat", async () => {
  assert.deepEqual(await inNewProcess(instrumented), []);
});

test("a fill of a shared, a resizable or a growing buffer issues each ID once", () => {
  const { ids, got } = collected();
  const shared = ids.fill(new BigUint64Array(new SharedArrayBuffer(8 * 5000)));
  const tracking = ids.fill(new BigUint64Array(new ArrayBuffer(8 * 5000, { maxByteLength: 8 * 9000 })));
  const grown = new SharedArrayBuffer(8 * 100, { maxByteLength: 8 * 200 });
  const growing = ids.fill(new BigUint64Array(grown));
  got.push(...shared, ...tracking, ...growing, ids.next());
  assert.equal(repeats(got), 0);
  assert.ok(increasing(got));
});

test("a target that grows during the call is filled to its length at the beginning", () => {
  const buffer = new ArrayBuffer(8 * 5000, { maxByteLength: 8 * 9000 });
  let armed = false;
  const now = () => {
    if (armed) buffer.resize(8 * 9000);
    return start;
  };
  const { ids, got, mint } = collected({ now });
  armed = true;
  const target = ids.fill(new BigUint64Array(buffer));
  armed = false;
  assert.equal(target.length, 9000);
  assert.deepEqual([...target.subarray(5000)], new Array(4000).fill(0n));
  got.push(...target.subarray(0, 5000));
  mint();
  assert.equal(repeats(got), 0);
});

test("a target from another realm is filled", async () => {
  const { runInNewContext } = await import("node:vm");
  const { ids, got } = collected();
  const target = runInNewContext("new BigUint64Array(5000)");
  assert.equal(ids.fill(target), target);
  assert.equal((await ids.fillAsync(runInNewContext("new BigUint64Array(50)"))).length, 50);
  assert.equal(repeats([...got, ...target]), 0);
});
