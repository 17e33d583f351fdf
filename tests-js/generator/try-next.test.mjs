// `tryNext()`: an ID, or undefined if `next()` would wait or throw a retryable error. It never waits, and no ID is lost or repeated.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ClockError, Layout, Snowflake } from "frazil";
import { repeats } from "./broken-generators.mjs";
import { increasing, scripted, start, times } from "./scripted-clock.mjs";

test("it returns what next() would, in order with the other calls, and has the same blocks", () => {
  const [one, other] = [scripted(), scripted()];
  const issued = times(3000, (at) => (at % 3 === 0 ? one.ids.next() : one.ids.tryNext()));
  assert.ok(increasing(issued));
  assert.deepEqual(
    issued,
    times(3000, () => other.ids.next()),
  );
  const { issued: count, dropped, stalls } = one.ids.stats();
  assert.deepEqual({ count, dropped, stalls }, { count: 3000, dropped: 0, stalls: 0 });
});

test("a full tick and a clock that went back give undefined, and the next ID follows the last one", () => {
  const { clock, ids } = scripted({ maxLeadMs: 0, maxWaitMs: 1000 });
  const issued = ids.nextMany(4096);
  assert.equal(ids.tryNext(), undefined);
  clock.ms -= 20;
  assert.equal(ids.tryNext(), undefined);
  assert.deepEqual([ids.stats().stalls, ids.stats().waitedMs, ids.stats().issued], [2, 0, 4096]);
  clock.ms = start + 1;
  issued.push(ids.tryNext(), ids.next());
  assert.equal(repeats(issued), 0);
  assert.ok(increasing(issued));
});

test("on the wall clock it never waits, whatever maxWaitMs is, and a loop of it repeats no ID", () => {
  const ids = new Snowflake({ node: 951, maxWaitMs: 60_000, maxLeadMs: 0 });
  const issued = [];
  let refused = 0;
  while (issued.length < 50_000) {
    const id = ids.tryNext();
    if (id === undefined) refused++;
    else issued.push(id);
  }
  assert.ok(refused > 0, "12 ms of IDs must take longer than the calls");
  assert.equal(ids.stats().waitedMs, 0);
  assert.equal(repeats(issued), 0);
  assert.ok(increasing(issued));
  // The mutant hands out the ID of the refused call again.
  let last;
  const broken = times(10, (at) => {
    if (at % 5 !== 4) last = ids.tryNext() ?? last;
    return last;
  });
  assert.ok(repeats(broken) > 0, "the checker must catch the mutant");
});

test("it throws what waiting does not help against", () => {
  const closed = scripted().ids;
  closed.close();
  assert.throws(closed.tryNext, { code: "CLOSED" });
  for (const [ms, code] of [
    [1704067200000 + 2 ** 41, "TIME_EXHAUSTED"],
    [0, "CLOCK_BEFORE_EPOCH"],
    [Number.NaN, "INVALID_CLOCK"],
  ]) {
    const { clock, ids } = scripted();
    ids.next();
    clock.ms = ms;
    assert.throws(ids.tryNext, { code, retryable: false });
    clock.ms = start;
    assert.equal(typeof ids.tryNext(), "bigint");
  }
});

test("an error of the clock is passed on, also one that says it is retryable, and costs no ID", () => {
  const { ids: other } = scripted({ maxLeadMs: 0 });
  other.nextMany(4096);
  let refusal;
  assert.throws(
    () => other.next(),
    (error) => {
      refusal = error;
      return error instanceof ClockError && error.retryable;
    },
  );
  for (const thrown of [refusal, new RangeError("no time"), "a text", undefined]) {
    let failing = false;
    const ids = new Snowflake({
      node: 7,
      now() {
        if (failing) throw thrown;
        return start;
      },
    });
    const last = ids.next();
    failing = true;
    let caught = "nothing";
    try {
      ids.tryNext();
    } catch (error) {
      caught = error;
    }
    assert.ok(Object.is(caught, thrown), `${caught}`);
    failing = false;
    assert.equal(ids.tryNext(), last + 1n);
  }
});

test("a clock that closes the generator, or that takes IDs itself, breaks neither", () => {
  const closing = scripted();
  closing.ids.next();
  const { ids } = closing;
  const taken = [];
  let inside = 0;
  const nested = new Snowflake({
    node: 7,
    now() {
      if (inside++ % 2 === 1) taken.push(nested.tryNext());
      return start + Math.floor(inside / 50);
    },
  });
  for (let call = 0; call < 500; call++) taken.push(nested.tryNext());
  const issued = taken.filter((id) => id !== undefined);
  assert.ok(issued.length > 500);
  assert.equal(repeats(issued), 0);
  Object.defineProperty(closing.clock, "ms", {
    get() {
      ids.close();
      return start;
    },
  });
  assert.throws(ids.tryNext, { code: "CLOSED" });
});

test("a block that serves the turn is left in order", async () => {
  const ids = new Snowflake({ node: 952, freshness: "turn", maxWaitMs: 1000 });
  const issued = [];
  for (let turn = 0; turn < 20; turn++) {
    for (let call = 0; call < 200; call++) {
      const id = call % 2 === 0 ? ids.next() : ids.tryNext();
      if (id !== undefined) issued.push(id);
    }
    await null;
  }
  assert.equal(repeats(issued), 0);
  assert.ok(increasing(issued));
});

test("it works detached", () => {
  const { tryNext } = scripted().ids;
  assert.equal(Layout.named("default").decode(tryNext()).timestampMs, start);
});
