// Clocks that call methods of their own generator: every method, at every reading, at several depths.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Snowflake } from "frazil";
import { inNewProcess } from "../core/package-copy.mjs";
import { repeats } from "./broken-generators.mjs";
import { backend, start, tinyLayout } from "./scripted-clock.mjs";

/** A broken generator: it reads its state, then the clock, and then updates the state. */
function lookingFirst(now) {
  let last = 0n;
  return () => {
    const id = last + 1n;
    now();
    last = id;
    return id;
  };
}

const refused = (error) => assert.ok(["SEQUENCE_EXHAUSTED", "CLOCK_BACKWARD"].includes(error.code), String(error));

/** A generator whose clock mints from it at random, the list of all IDs, the clock, and the calls that wait. */
function callingBack(options, chance = 0.3) {
  const got = [];
  const waiting = [];
  const clock = { ms: start, depth: 0, calls: 0 };
  const calls = [
    () => got.push(ids.next()),
    () => got.push(...ids.nextMany(3)),
    () => got.push(...ids.fill(new BigUint64Array(5))),
    () => got.push(BigInt(ids.nextString())),
    () => ids.health(),
    () => ids.stats(),
    () => waiting.push(ids.nextAsync().then((id) => got.push(id), refused)),
    () => waiting.push(ids.nextManyAsync(7).then((list) => got.push(...list), refused)),
  ];
  const now = () => {
    if (clock.depth < 3 && Math.random() < chance && ids !== undefined) {
      clock.depth++;
      clock.calls++;
      try {
        calls[Math.floor(Math.random() * calls.length)]();
      } catch (error) {
        refused(error);
      }
      clock.depth--;
    }
    if (Math.random() < 0.2) clock.ms += Math.random() < 0.9 ? 1 : -1;
    return clock.ms;
  };
  let ids;
  ids = new Snowflake({ node: 7, maxLeadMs: 5, maxWaitMs: 3, now, ...options });
  return { ids, got, clock, waiting };
}

for (const [name, options] of Object.entries({
  "the default layout": {},
  "a sequence of four": { layout: tinyLayout },
  "a clock field": { layout: "multi-clock" },
  "sequences that wrap": { sequenceStart: "wrap" },
})) {
  test(`a clock that calls its generator at random causes no repeat, with ${name}`, async () => {
    const { ids, got, clock, waiting } = callingBack(options);
    for (let call = 0; call < 3000; call++) {
      try {
        if (call % 3 === 0) got.push(...ids.nextMany(call % 50));
        else got.push(ids.next());
      } catch (error) {
        refused(error);
      }
      if (call % 500 === 0)
        waiting.push(ids.fillAsync(new BigUint64Array(20)).then((list) => got.push(...list), refused));
    }
    // A call that waits reads the clock, which may begin another one.
    while (waiting.length > 0) await Promise.all(waiting.splice(0));
    assert.ok(clock.calls > 500 && got.length > 2000, `${clock.calls} calls, ${got.length} IDs`);
    assert.equal(repeats(got), 0);
    const { issued } = ids.stats();
    assert.ok(issued >= got.length, `${issued} issued, ${got.length} seen`);
  });
}

test("the same checker catches a generator that reads its state before the clock and updates it after", () => {
  let depth = 0;
  const got = [];
  const next = lookingFirst(() => {
    if (depth < 3 && Math.random() < 0.3) {
      depth++;
      got.push(next());
      depth--;
    }
  });
  for (let call = 0; call < 3000; call++) got.push(next());
  assert.ok(repeats(got) > 0);
});

test("a replaced Date.now that returns an object whose comparison mints causes no repeat", async () => {
  const script = `
    import { Snowflake } from "frazil";
    const ids = new Snowflake({ node: 62, maxWaitMs: 1000 });
    const got = [];
    for (let at = 0; at < 40; at++) got.push(ids.next());
    const { now } = Date;
    let depth = 0;
    const minting = () => ({ valueOf() {
      if (depth++ === 0) { Date.now = now; for (let rest = Math.random() * 60; rest > 0; rest--) got.push(ids.next()); Date.now = minting; }
      depth--;
      return now();
    } });
    const codes = new Set();
    for (let round = 0; round < 3000; round++) {
      Date.now = minting;
      try { got.push(ids.next()); } catch (error) { codes.add(error.code); }
      try { got.push(...ids.nextMany(5)); } catch (error) { codes.add(error.code); }
      Date.now = now;
      got.push(ids.next());
    }
    process.stdout.write(JSON.stringify({ count: got.length, repeats: got.length - new Set(got).size, bad: got.filter((id) => typeof id !== "bigint").length, codes: [...codes] }));
  `;
  const { count, repeats: repeated, bad, codes } = await inNewProcess(script);
  assert.ok(count > 10_000, `${count}`);
  assert.deepEqual({ repeated, bad, codes }, { repeated: 0, bad: 0, codes: ["INVALID_CLOCK"] });
});

test("a stack overflow in the middle of a call causes no repeat", async () => {
  const script = `
    import { Snowflake } from "frazil";
    const ids = new Snowflake({ node: 63, layout: "multi-clock", maxWaitMs: 1000 });
    const got = Array.from({ length: 10 }, ids.next);
    let depth = 1000;
    const dive = (left) => {
      if (left > 0) return dive(left - 1);
      const list = ids.nextMany(9);
      got.push(ids.next(), ...list);
    };
    // One more frame each time, so that the overflow happens at another place each time.
    const errors = {};
    const attempt = (left) => {
      try {
        dive(left);
        return true;
      } catch (error) {
        const name = error.code ?? error.name;
        errors[name] = (errors[name] ?? 0) + 1;
        return false;
      }
    };
    while (depth < 1e6 && attempt(depth)) depth += 500;
    for (let left = depth - 700; left < depth + 200; left++) {
      attempt(left);
      attempt(0);
    }
    process.stdout.write(JSON.stringify({ errors, count: got.length, repeats: got.length - new Set(got).size }));
  `;
  const { errors, count, repeats: repeated } = await inNewProcess(script);
  assert.ok(errors.RangeError > 0 && count > 20, JSON.stringify({ errors, count }));
  assert.equal(repeated, 0);
  // A WebAssembly module that was interrupted refuses all later calls, because its state may be half changed.
  const { RangeError: _, WASM_UNAVAILABLE: stopped = 0, ...others } = errors;
  assert.deepEqual(others, {});
  assert.ok(stopped === 0 || backend === "wasm");
});

test("getters that open generators and mint while another generator is being opened do not affect that one", async () => {
  const script = `
    import { Snowflake } from "frazil";
    const now = () => ${start};
    const { defineProperty, getOwnPropertyDescriptor } = Object;
    new Snowflake({ node: 1 }).next();
    const places = [
      [Performance.prototype, "timeOrigin"],
      [Array.prototype, "indexOf"], [Array.prototype, "forEach"], [Array.prototype, "push"], [Array.prototype, "some"],
      [Array.prototype, "map"], [Array.prototype, "includes"], [String.prototype, "split"], [Object, "keys"], [globalThis, "Number"],
      [Math, "ceil"], [Object.getPrototypeOf([].values()), "next"], [FinalizationRegistry.prototype, "register"],
    ];
    const outcome = [];
    for (const [holder, key] of places) {
      const had = getOwnPropertyDescriptor(holder, key);
      let armed = 0;
      let ids;
      const other = () => {
        if (armed <= 0) return;
        armed = 0;
        new Snowflake({ node: 60, layout: "multi-clock", maxLeadMs: 3, now: () => now() }).next();
        new Snowflake({ node: 500, layout: "twitter", now }).next();
        ids?.next();
        armed = 1;
      };
      const fake = had.get
        ? { ...had, get() { other(); return had.get.call(this); } }
        : { ...had, value: new Proxy(had.value, { apply: (of, self, given) => (other(), Reflect.apply(of, self, given)) }) };
      defineProperty(holder, key, fake);
      try {
        // A shared generator, because only such a one reads the start time of the process.
        for (const options of [{ node: 9 }, { node: 9, now }]) {
          armed = 1;
          ids = new Snowflake(options);
          const health = ids.health();
          armed = 0;
          const { node, timestampMs } = ids.decode(ids.next());
          if (node !== 9 || ids.node !== 9 || health.endsAt.getUTCFullYear() !== 2093 || Math.abs(timestampMs - (options.now ?? Date.now)()) > 1000)
            outcome.push([key, node, timestampMs, health.endsAt]);
          ids = undefined;
        }
      } catch (error) { outcome.push([key, String(error.stack)]); }
      armed = 0;
      defineProperty(holder, key, had);
    }
    process.stdout.write(JSON.stringify(outcome));
  `;
  assert.deepEqual(await inNewProcess(script), []);
});
