// A signal can be any object with the methods of an AbortSignal: a subclass, a polyfill, a Proxy. Its methods may mint, and
// throw.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inNewProcess } from "../core/package-copy.mjs";
import { repeats } from "./broken-generators.mjs";
import { increasing, scripted, start, times } from "./scripted-clock.mjs";

/** An object with the methods of an AbortSignal. */
function handmade(overrides = {}) {
  const listeners = new Set();
  const signal = {
    aborted: false,
    reason: undefined,
    addEventListener: (_, listener) => listeners.add(listener),
    removeEventListener: (_, listener) => listeners.delete(listener),
    throwIfAborted() {
      if (signal.aborted) throw signal.reason;
    },
    ...overrides,
  };
  const abort = (reason) => {
    Object.assign(signal, { aborted: true, reason });
    for (const listener of listeners) listener();
  };
  return { signal, listeners, abort };
}

test("a handmade signal ends a wait, and has no listeners afterwards", async () => {
  const { ids } = scripted({ maxLeadMs: 0 });
  ids.nextMany(4096);
  const { signal, listeners, abort } = handmade();
  const waiting = ids.nextAsync({ signal });
  await null;
  abort("enough");
  assert.equal(await waiting.catch((reason) => reason), "enough");
  assert.equal(listeners.size, 0);
});

test("a signal without removeEventListener is refused, because the wait would end in a crash", async () => {
  const { ids } = scripted();
  const { signal } = handmade({ removeEventListener: undefined });
  await assert.rejects(ids.nextAsync({ signal }), { code: "INVALID_OPTION", field: "signal" });
});

for (const method of ["addEventListener", "removeEventListener", "throwIfAborted"]) {
  test(`a signal whose ${method} throws rejects the call: no crash, no hang, no timer left behind, no repeat`, async () => {
    const script = `
      import { Snowflake } from "frazil";
      let ms = ${start};
      const ids = new Snowflake({ node: 7, maxLeadMs: 0, maxAsyncWaitMs: 60_000, now: () => ms });
      const got = ids.nextMany(4096);
      const signal = new AbortController().signal;
      let calls = 0;
      signal.${method} = () => { if (++calls >= ${method === "throwIfAborted" ? 2 : 1}) throw new Error("mine"); };
      const outcome = [];
      for (const call of [() => ids.nextAsync({ signal }), () => ids.nextManyAsync(10_000, { signal }), () => ids.fillAsync(new BigUint64Array(10_000), { signal })]) {
        await call().then(() => outcome.push("resolved"), (error) => outcome.push(error.message));
        ms += 1;
        calls = 0;
        got.push(ids.next());
      }
      const repeats = got.length - new Set(got).size;
      process.stdout.write(JSON.stringify({ outcome, repeats }));
    `;
    const began = performance.now();
    assert.deepEqual(await inNewProcess(script), { outcome: ["mine", "mine", "mine"], repeats: 0 });
    assert.ok(performance.now() - began < 60_000, "a timer kept the process running");
  });
}

test("a signal whose methods mint causes no repeat and no disorder", async () => {
  const { ids, clock } = scripted({ maxLeadMs: 1 });
  const got = [];
  const mint = () => {
    clock.ms += 1;
    got.push(ids.next());
  };
  class Minting extends AbortSignal {}
  const controller = new AbortController();
  const { signal } = controller;
  Object.setPrototypeOf(signal, Minting.prototype);
  for (const method of ["addEventListener", "removeEventListener", "throwIfAborted"]) {
    Minting.prototype[method] = function (...given) {
      mint();
      const result = AbortSignal.prototype[method].apply(this, given);
      mint();
      return result;
    };
  }
  Object.defineProperty(Minting.prototype, "aborted", {
    get() {
      mint();
      return Reflect.get(AbortSignal.prototype, "aborted", this);
    },
  });
  const lists = await Promise.all(times(5, () => ids.nextManyAsync(20_000, { signal })));
  const aborted = ids.nextManyAsync(100_000, { signal }).catch((error) => error);
  await null;
  controller.abort();
  assert.equal((await aborted).name, "AbortError");
  const after = times(5, ids.next);
  assert.equal(repeats([...lists.flat(), ...got, ...after]), 0);
  assert.ok(lists.every(increasing));
  assert.ok(increasing([...got, ...after]));
});

test("a signal that aborts while it is read, or claims to be aborted, rejects the call and loses no ID", async () => {
  for (const lie of ["addEventListener", "throwIfAborted"]) {
    const { ids, clock } = scripted({ maxLeadMs: 0 });
    const controller = new AbortController();
    const { signal } = controller;
    const real = signal[lie].bind(signal);
    let calls = 0;
    signal[lie] = (...given) => {
      if (++calls === 2 || lie === "addEventListener") controller.abort();
      return real(...given);
    };
    await assert.rejects(ids.nextManyAsync(10_000, { signal }), { name: "AbortError" });
    clock.ms += 1;
    const got = ids.nextMany(4090);
    assert.equal(repeats(got), 0);
    assert.ok(increasing(got));
    assert.equal(ids.stats().dropped, 0);
  }
  const { ids } = scripted({ maxLeadMs: 0 });
  ids.nextMany(4096);
  const { signal } = handmade({ addEventListener: (_, listener) => listener(), throwIfAborted() {} });
  // The listener fires early each time; each time counts as a whole wait, so the call ends.
  await assert.rejects(ids.nextAsync({ signal }), { code: "SEQUENCE_EXHAUSTED" });
});

test("a Proxy of a signal ends the wait or is refused at once, and causes no repeat", async () => {
  const { ids, clock } = scripted({ maxLeadMs: 0, maxAsyncWaitMs: 60_000 });
  const controller = new AbortController();
  const signal = new Proxy(controller.signal, {});
  const got = ids.nextMany(4096);
  const waiting = ids.nextManyAsync(10, { signal }).catch((error) => error);
  await null;
  controller.abort();
  assert.ok(["AbortError", "TypeError"].includes((await waiting).name));
  clock.ms += 1;
  got.push(...ids.nextMany(10));
  assert.equal(repeats(got), 0);
});
