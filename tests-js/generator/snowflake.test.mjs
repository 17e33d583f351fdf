// The class `Snowflake`: its object, stats and health, closing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { ClockError, Layout, Snowflake } from "frazil";
import { CATCH_NUMBERS, inNewProcess } from "../core/package-copy.mjs";
import { slot } from "../vectors/generated-tables.mjs";
import { repeats } from "./broken-generators.mjs";
import { backend, from, increasing, positions, scripted, start, times } from "./scripted-clock.mjs";

// The object

test("a method of a subclass is ignored, also by the calls that mint as it does: wrap a generator", () => {
  class Own extends Snowflake {
    next() {
      return 5n;
    }
  }
  const ids = new Own({ node: 7, now: () => start });
  assert.deepEqual(positions([ids.next(), BigInt(ids.nextString()), ...ids.nextMany(1)]), from(0, 3));
});

test("an accessor of a subclass or of Object.prototype does not take the place of next", (t) => {
  t.after(() => delete Object.prototype.next);
  for (const accessors of [{ get: () => () => 5n }, { get: () => () => 5n, set() {} }, { set: undefined }])
    for (const freshness of ["call", "turn"]) {
      class Own extends Snowflake {}
      for (const owner of [Own.prototype, Object.prototype]) {
        Object.defineProperty(owner, "next", { configurable: true, ...accessors });
        const ids = new Own({ node: 7, freshness, now: () => start });
        assert.deepEqual(positions([ids.next(), BigInt(ids.nextString()), ...ids.nextMany(1)]), from(0, 3));
        delete owner.next;
      }
    }
});

test("every method works when it is detached from its generator", async () => {
  const { next, nextString, nextMany, nextManyStrings, fill, nextAsync, decode, stats, close, ...more } =
    scripted().ids;
  assert.deepEqual(
    positions([next(), BigInt(nextString()), ...nextMany(2), ...fill(new BigUint64Array(1)), await nextAsync()]),
    from(0, 6),
  );
  assert.equal(typeof nextManyStrings(1)[0], "string");
  assert.equal(decode(next()).node, 7);
  await Promise.all([
    more.nextStringAsync(),
    more.fillAsync(new BigUint64Array(1)),
    more.nextManyAsync(1),
    more.nextManyStringsAsync(1),
  ]);
  assert.equal(stats().issued, 12);
  close();
  assert.throws(next, { code: "CLOSED" });
});

test("iteration yields IDs without end, and breaking out of it does not close the generator", () => {
  const { ids } = scripted();
  const issued = [];
  for (const id of ids) {
    issued.push(id);
    if (issued.length === 100) break;
  }
  const [a, b] = ids;
  assert.deepEqual(positions([...issued, a, b, ids.next()]), from(0, 103));
});

test("nextString and nextManyStrings give IDs in decimal digits", () => {
  const [a, b] = [scripted().ids, scripted().ids];
  assert.deepEqual(
    times(20, a.nextString),
    times(20, () => `${b.next()}`),
  );
  assert.deepEqual(a.nextManyStrings(5), b.nextMany(5).map(String));
});

test("stats count issued and dropped IDs, reservations and waits", () => {
  const { ids, clock } = scripted({ maxLeadMs: 0 });
  assert.deepEqual(ids.stats(), {
    backend,
    issued: 0,
    dropped: 0,
    reservations: 0,
    rechecks: 0,
    stalls: 0,
    waitedMs: 0,
    stepsBack: 0,
    largestStepBackMs: 0,
    switches: 0,
    worstLeadMs: 0,
    extensions: 0,
  });
  ids.nextMany(4096);
  clock.ms -= 5;
  assert.throws(ids.next);
  clock.ms += 6;
  ids.next();
  assert.deepEqual(ids.stats(), {
    backend,
    issued: 4097,
    dropped: 0,
    reservations: 2,
    rechecks: 1,
    stalls: 1,
    waitedMs: 0,
    stepsBack: 1,
    largestStepBackMs: 5,
    switches: 0,
    worstLeadMs: 0,
    extensions: 0,
  });
  const stats = ids.stats();
  ids.close();
  assert.deepEqual(ids.stats(), stats, "stats must stay as they were at the close");
});

test("stats report a clock that jumps a year ahead and back", () => {
  const { ids, clock } = scripted({ layout: "multi-clock" });
  const year = 31_536_000_000;
  ids.next();
  clock.ms += year;
  ids.next();
  clock.ms -= year - 60_000;
  const id = ids.next();
  assert.equal(ids.decode(id).timestampMs, clock.ms, "another clock id must follow the clock back");
  const { stepsBack, largestStepBackMs, switches } = ids.stats();
  assert.deepEqual(
    { stepsBack, largestStepBackMs, switches },
    { stepsBack: 1, largestStepBackMs: year - 60_000, switches: 1 },
  );
});

test("health reports the state of the generator, and issues no ID", () => {
  const { ids, clock } = scripted();
  const first = ids.next();
  const endsAt = new Date(1704067200000 + 2 ** 41 - 1);
  const remainingMs = endsAt - clock.ms;
  assert.deepEqual(ids.health(), { ok: true, refusal: undefined, leadMs: 0, endsAt, remainingMs, warnings: [] });
  clock.ms -= 60_000;
  const { ok, refusal, leadMs } = ids.health();
  assert.deepEqual([ok, leadMs], [false, 60_000]);
  assert.ok(refusal instanceof ClockError);
  assert.deepEqual([refusal.code, refusal.retryAfterMs], ["CLOCK_BACKWARD", 59_990]);
  clock.ms += 60_000;
  assert.equal(ids.next(), first + 1n);

  for (const [atMs, warned] of [
    [+endsAt - 31_536_000_000, false],
    [+endsAt - 31_536_000_000 + 1, true],
    [+endsAt, true],
  ]) {
    clock.ms = atMs;
    const { ok, warnings } = ids.health();
    assert.equal(ok, true);
    assert.equal(warnings.length, Number(warned));
    assert.equal(warnings.join().includes("2093-09-06T15:47:35.551Z"), warned, `${warnings}`);
  }
  clock.ms = +endsAt + 1;
  assert.deepEqual([ids.health().refusal.code, ids.health().remainingMs], ["TIME_EXHAUSTED", 0]);
  clock.ms = Number.NaN;
  assert.throws(ids.health, { code: "INVALID_CLOCK" });
});

test("after close() health() has the error that next() throws, and asks no clock", () => {
  const { clock, ids } = scripted({ layout: "sonyflake" });
  const { endsAt } = ids.health();
  ids.close();
  clock.ms = Number.NaN;
  const now = Date.now;
  for (const shown of [now(), Number.NaN, 5n]) {
    Date.now = () => shown;
    const { refusal, ...rest } = ids.health();
    Date.now = now;
    assert.throws(ids.next, refusal);
    assert.equal(refusal.code, "CLOSED");
    assert.deepEqual(rest, { ok: false, leadMs: 0, endsAt, remainingMs: 0, warnings: [] });
  }
  class Other extends Layout {
    plan() {
      throw new Error("plan() of a subclass");
    }
  }
  const other = new Snowflake({ node: 7, layout: new Other(Layout.named("default")) });
  other.close();
  assert.equal(other.health().refusal.code, "CLOSED");
});

test("all generators with one layout and node id must have the same sequenceStart", () => {
  const options = { node: 31, maxWaitMs: 1000 };
  for (const [sequenceStart, other, node] of [
    ["random", "wrap", 31],
    ["wrap", undefined, 32],
    ["zero", "random", 33],
  ]) {
    const ids = new Snowflake({ ...options, node, sequenceStart });
    ids.next();
    assert.throws(() => new Snowflake({ ...options, node, sequenceStart: other }), {
      code: "STATE_CONFLICT",
      field: "sequenceStart",
      value: other ?? "zero",
    });
    const second = new Snowflake({ ...options, node, sequenceStart });
    const issued = times(1000, (at) => (at % 2 === 0 ? ids : second).next());
    assert.equal(repeats(issued), 0);
  }
});

test("a random start spreads the IDs of a rarely used generator over all shards", () => {
  const fullest = (sequenceStart) => {
    const { ids, clock } = scripted({ sequenceStart });
    const shards = new Array(16).fill(0);
    for (let call = 0; call < 20_000; call++) {
      clock.ms += 2;
      shards[Number(ids.next() % 16n)]++;
    }
    return Math.max(...shards) / 20_000;
  };
  // A sixteenth is 6.25 %; 8 % is ten standard deviations away.
  assert.ok(fullest("random") <= 0.08);
  assert.ok(fullest("wrap") <= 0.08);
  assert.ok(fullest("zero") > 0.99, "with the start zero nearly all IDs are in one shard");
});

test("a closed generator refuses every call that mints, and still decodes", async () => {
  const { ids } = scripted();
  const issued = times(4, ids.next);
  ids.close();
  ids.close();
  const closed = { code: "CLOSED", name: "ConfigError", retryable: false };
  for (const method of ["next", "nextString"]) assert.throws(ids[method], closed);
  for (const count of [0, 1, 5000]) {
    assert.throws(() => ids.nextMany(count), closed);
    assert.throws(() => ids.nextManyStrings(count), closed);
    assert.throws(() => ids.fill(new BigUint64Array(count)), closed);
    await assert.rejects(ids.fillAsync(new BigUint64Array(count)), closed);
    await assert.rejects(ids.nextManyAsync(count), closed);
    await assert.rejects(ids.nextManyStringsAsync(count), closed);
  }
  await assert.rejects(ids.nextAsync(), closed);
  await assert.rejects(ids.nextStringAsync(), closed);
  assert.throws(() => ids[Symbol.iterator]().next(), closed);
  assert.equal(ids.decode(issued[3]).sequence, 3);
  assert.equal(ids.node, 7);
  const { issued: count, dropped } = ids.stats();
  assert.deepEqual({ count, dropped }, { count: 4, dropped: 3 });
});

test("Symbol.dispose, which `using` calls, closes the generator", () => {
  const { ids } = scripted();
  ids.next();
  assert.equal(ids[Symbol.dispose](), undefined);
  assert.throws(ids.next, { code: "CLOSED" });
  ids[Symbol.dispose]();
});

test("closing one of two generators with one node id leaves the other open, on the same state", () => {
  const [a, b] = [new Snowflake({ node: 22 }), new Snowflake({ node: 22 })];
  const issued = [a.next(), b.next()];
  a.close();
  issued.push(b.next(), new Snowflake({ node: 22 }).next());
  assert.equal(repeats(issued), 0);
  assert.ok(increasing(issued));
  assert.throws(a.next, { code: "CLOSED" });
});

test("closing a private generator twice does not close another that reuses its table entry", () => {
  const [first] = [scripted().ids];
  first.next();
  first.close();
  const second = scripted().ids;
  assert.deepEqual(positions([second.next()]), [0]);
  first.close();
  assert.throws(first.next, { code: "CLOSED" });
  assert.deepEqual(positions(second.nextMany(3)), [1, 2, 3]);
});

/** A handle is an index into the handle table, plus this factor times the number of earlier uses of that index. */
const HANDLE_INDEXES = 2 ** 24;

test("100,000 private generators, opened and closed, take no more memory than a few", async () => {
  const script = `
    ${CATCH_NUMBERS}
    const now = () => ${start};
    const bytes = () => numbers().buffer.byteLength;
    new Snowflake({ node: 7, now });
    const before = bytes();
    let wrong = 0;
    for (let at = 0; at < 100_000; at++) {
      const ids = new Snowflake({ node: 7, now });
      if (at % 1000 === 0 && (ids.next() & 0xfffn) !== 0n) wrong++;
      ids.close();
    }
    const handle = numbers()[${slot.HANDLE}];
    process.stdout.write(JSON.stringify({ handle, wrong, grown: bytes() - before }));
  `;
  const { handle, wrong, grown } = await inNewProcess(script);
  assert.ok(handle > 99_000 * HANDLE_INDEXES, `${handle}: a handle was used twice`);
  assert.ok(handle % HANDLE_INDEXES < 10, `index ${handle % HANDLE_INDEXES}`);
  assert.deepEqual({ wrong, grown }, { wrong: 0, grown: 0 });
});

test("20,000 private generators that are opened and not closed do not affect another generator", async () => {
  const kept = scripted().ids;
  for (let at = 0; at < 20_000; at++) {
    scripted().ids.next();
    if (at % 5000 === 0) await sleep(0);
  }
  assert.deepEqual(positions(kept.nextMany(3)), [0, 1, 2]);
});

test("a private generator that is collected frees its table entry, and a detached method keeps its generator alive", async () => {
  const script = `
    ${CATCH_NUMBERS}
    const now = () => ${start};
    const lastIndex = () => {
      new Snowflake({ node: 7, now }).close();
      return numbers()[${slot.HANDLE}] % ${HANDLE_INDEXES};
    };
    let { next } = new Snowflake({ node: 7, now });
    next();
    for (let round = 0; round < 20; round++) {
      for (let at = 0; at < 1000; at++) new Snowflake({ node: 7, now });
      gc();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    process.stdout.write(JSON.stringify({ index: lastIndex(), sequence: Number(next() & 0xfffn) }));
  `;
  const { index, sequence } = await inNewProcess(script, { flags: ["--expose-gc"] });
  assert.ok(index < 10_000, `${index} of 20,000 table entries are in use`);
  assert.equal(sequence, 1);
});

// Printing

test("console.log shows the fields of the layout, the node id and the backend, and no more than a depth that is given", () => {
  const ids = new Snowflake({ node: 41 });
  const printed = (options) => inspect(ids, { breakLength: Number.POSITIVE_INFINITY, ...options });
  const fields = "[ { kind: 'time', bits: 41 }, { kind: 'node', bits: 10 }, { kind: 'sequence', bits: 12 } ]";
  const whole = `Snowflake { layout: Layout { epochMs: 1704067200000, tickMs: 1, unsigned: false, fields: ${fields} }, node: 41, backend: '${backend}' }`;
  for (const depth of [2, 3, null, Number.POSITIVE_INFINITY]) assert.equal(printed({ depth, compact: 9 }), whole);
  assert.equal(printed({ depth: 0, compact: 9 }), `Snowflake { layout: [Layout], node: 41, backend: '${backend}' }`);
});
