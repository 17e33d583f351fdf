// The face: blocks, order, closing, waiting, layouts, memory that moves, copies that meet, and what an import may not do.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ClockError, Layout, Snowflake } from "frazil";
import { slot } from "../vectors/tables.mjs";
import { wide } from "../wide.mjs";
import { repeats } from "./broken.mjs";
import { copyPackage, inProcess } from "./copy.mjs";

const { backend } = new Snowflake({ node: 0 });
const native = backend === "native";
const require = createRequire(import.meta.url);
const start = 1_780_000_000_000;
const port = () => globalThis[Symbol.for("frazil")];

/** A generator with a state of its own, and the clock it reads: `ms` is what that shows, `reads` how often it was asked. */
function scripted(options) {
  const clock = { ms: start, reads: 0 };
  const now = () => {
    clock.reads++;
    return clock.ms;
  };
  return { clock, ids: new Snowflake({ node: 7, maxWaitMs: 0, now, ...options }) };
}

const times = (count, call) => Array.from({ length: count }, (_, at) => call(at));
const increasing = (ids) => ids.every((id, at) => at === 0 || ids[at - 1] < id);

/** Where an ID lies in its generator's count: tick above sequence, so that IDs issued one after the other differ by 1. */
function positions(ids, layout = Layout.named("default")) {
  const perTick = layout.plan().idsPerTick;
  return ids.map((id) => {
    const { timestampMs, sequence } = layout.decode(id);
    return ((timestampMs - start) / layout.tickMs) * perTick + sequence;
  });
}

/** The count from one number on. */
const from = (first, count) => times(count, (at) => first + at);

/** How many IDs of a run of `next()` came with each reservation. */
function blockSizes(ids, count) {
  const sizes = [];
  for (let reservations = ids.stats().reservations, at = 0; at < count; at++) {
    ids.next();
    const now = ids.stats().reservations;
    if (now === reservations) sizes[sizes.length - 1]++;
    else sizes.push(1);
    reservations = now;
  }
  return sizes;
}

const tiny = {
  epochMs: 1704067200000,
  fields: [
    { kind: "time", bits: 41 },
    { kind: "node", bits: 10 },
    { kind: "sequence", bits: 2 },
  ],
};

// Blocks

test("blocks start at one ID and double while they are used up within a tick, to a quarter of the sequence", () => {
  const doubling = times(10, (at) => 2 ** at);
  assert.deepEqual(blockSizes(scripted().ids, 1023 + 3 * 1024), [...doubling, 1024, 1024, 1024]);
  assert.deepEqual(blockSizes(scripted({ layout: "edge" }).ids, 63 + 3 * 64), [1, 2, 4, 8, 16, 32, 64, 64, 64]);
  assert.deepEqual(
    blockSizes(scripted({ layout: tiny }).ids, 12),
    times(12, () => 1),
  );
});

test("a block is at most 4096 IDs, however wide the sequence", () => {
  const { ids } = scripted({ layout: wide, node: 1 });
  assert.deepEqual(blockSizes(ids, 4095 + 3 * 4096), [...times(12, (at) => 2 ** at), 4096, 4096, 4096]);
});

test("a generator that is asked for one ID a tick drops nothing", () => {
  const { ids, clock } = scripted();
  const issued = times(1000, (at) => {
    clock.ms = start + at;
    return ids.next();
  });
  assert.deepEqual(
    positions(issued),
    times(1000, (at) => at * 4096),
  );
  const { issued: count, dropped, reservations } = ids.stats();
  assert.deepEqual({ count, dropped, reservations }, { count: 1000, dropped: 0, reservations: 1000 });
});

test("the rest of a block is dropped when the tick changes, and the next block is one ID again", () => {
  const { ids, clock } = scripted();
  assert.deepEqual(positions(times(4, ids.next)), [0, 1, 2, 3]);
  clock.ms += 1;
  assert.deepEqual(positions([ids.next()]), [4096]);
  const { issued, dropped, reservations } = ids.stats();
  assert.deepEqual({ issued, dropped, reservations }, { issued: 5, dropped: 3, reservations: 4 });
});

test("the rest of a block is dropped when the clock steps back, and IDs go on increasing", () => {
  const { ids, clock } = scripted();
  times(4, ids.next);
  clock.ms -= 3;
  // The block of four was 3 to 6.
  assert.deepEqual(positions([ids.next()]), [7]);
  assert.equal(ids.stats().dropped, 3);
});

test("a refusal drops nothing: once the clock is back, the block goes on", () => {
  const { ids, clock } = scripted();
  times(4, ids.next);
  clock.ms -= 1000;
  for (const call of [ids.next, ids.nextString, () => ids.nextMany(1), () => ids.fill(new BigUint64Array(5))]) {
    assert.throws(call, { code: "CLOCK_BACKWARD", retryAfterMs: 990 });
  }
  clock.ms = start;
  assert.deepEqual(positions([ids.next(), ...ids.nextMany(2), ids.next()]), [4, 5, 6, 7]);
  assert.equal(ids.stats().dropped, 0);
});

test("fill and nextMany take the rest of the block first and go on where it ends", async () => {
  const { ids } = scripted();
  const issued = [...times(4, ids.next)]; // the block holds three more
  issued.push(...ids.fill(new BigUint64Array(2)));
  issued.push(...ids.nextMany(5));
  issued.push(ids.next(), ids.next());
  issued.push(...(await ids.fillAsync(new BigUint64Array(3))));
  issued.push(...(await ids.nextManyAsync(4)), await ids.nextAsync());
  issued.push(...[...ids.nextManyStrings(2), ids.nextString(), await ids.nextStringAsync()].map(BigInt));
  issued.push(...(await ids.nextManyStringsAsync(2)).map(BigInt));
  assert.deepEqual(positions(issued), from(0, issued.length));
  assert.equal(ids.stats().issued, issued.length);
});

test("a mixture of all calls on a clock that stands still issues every number once, in order, into borrowed ticks", async () => {
  const { ids } = scripted();
  const calls = [
    () => [ids.next()],
    (count) => ids.nextMany(count),
    (count) => [...ids.fill(new BigUint64Array(count))],
    async () => [await ids.nextAsync()],
    (count) => ids.nextManyAsync(count),
    async (count) => [...(await ids.fillAsync(new BigUint64Array(count)))],
  ];
  const issued = [];
  for (let step = 0; issued.length < 40_000; step++) {
    issued.push(...(await calls[(step * 7) % 6]((step * 37) % 301)));
    if (step % 11 === 0) for (let more = step % 64; more > 0; more--) issued.push(ids.next());
  }
  assert.deepEqual(positions(issued), from(0, issued.length));
  assert.equal(ids.stats().dropped, 0);
});

test("a mixture of all calls on the wall clock strictly increases", async () => {
  const ids = new Snowflake({ node: 21, maxWaitMs: 1000 });
  const issued = [];
  for (let round = 0; round < 300; round++) {
    issued.push(ids.next(), ...ids.nextMany(round % 50), await ids.nextAsync());
    issued.push(...ids.fill(new BigUint64Array((round * 13) % 200)), ...(await ids.nextManyAsync(round % 7)));
    if (round % 30 === 0) await sleep(1);
  }
  assert.ok(increasing(issued));
  assert.equal(ids.stats().issued, issued.length);
});

test("a full tick borrows the ticks ahead, as far as the lead allows", () => {
  const { ids } = scripted({ maxLeadMs: 2 });
  const issued = times(3 * 4096, ids.next);
  assert.deepEqual(positions(issued), from(0, 3 * 4096));
  assert.equal(ids.decode(issued.at(-1)).timestampMs, start + 2);
  assert.throws(ids.next, { code: "SEQUENCE_EXHAUSTED", retryAfterMs: 1 });
});

test("a tick of ten milliseconds is served from one block while the clock moves within it", () => {
  const { ids, clock } = scripted({ layout: "sonyflake" });
  const layout = Layout.named("sonyflake");
  const issued = times(10, (at) => {
    clock.ms = start + at;
    return ids.next();
  });
  assert.deepEqual(positions(issued, layout), from(0, 10));
  assert.equal(ids.stats().reservations, 4);
});

// The object

test("every method works detached", async () => {
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

test("iteration yields IDs without end, and leaving it ends nothing", () => {
  const { ids } = scripted();
  const issued = [];
  for (const id of ids) {
    issued.push(id);
    if (issued.length === 100) break;
  }
  const [a, b] = ids;
  assert.deepEqual(positions([...issued, a, b, ids.next()]), from(0, 103));
});

test("text is the same number in decimal digits", () => {
  const [a, b] = [scripted().ids, scripted().ids];
  assert.deepEqual(
    times(20, a.nextString),
    times(20, () => `${b.next()}`),
  );
  assert.deepEqual(a.nextManyStrings(5), b.nextMany(5).map(String));
});

test("stats count what was issued, dropped, reserved and waited for", () => {
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
  });
  const stats = ids.stats();
  ids.close();
  assert.deepEqual(ids.stats(), stats, "what it was when it was closed");
});

test("stats tell of a clock that jumps a year ahead and back", () => {
  const { ids, clock } = scripted({ layout: "multi-clock" });
  const year = 31_536_000_000;
  ids.next();
  clock.ms += year;
  ids.next();
  clock.ms -= year - 60_000;
  const id = ids.next();
  assert.equal(ids.decode(id).timestampMs, clock.ms, "not stuck: another clock id");
  const { stepsBack, largestStepBackMs, switches } = ids.stats();
  assert.deepEqual(
    { stepsBack, largestStepBackMs, switches },
    { stepsBack: 1, largestStepBackMs: year - 60_000, switches: 1 },
  );
});

test("health tells how it stands, and issues nothing", () => {
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
  ids.close();
  assert.throws(ids.health, { code: "CLOSED" });
});

test("a random or wrapping start is one for all generators of a layout and node id", () => {
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
      value: other,
    });
    const twin = new Snowflake({ ...options, node, sequenceStart });
    const issued = times(1000, (at) => (at % 2 === 0 ? ids : twin).next());
    assert.equal(repeats(issued), 0);
  }
});

test("a random start spreads a quiet generator over its shards", () => {
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
  assert.ok(fullest("zero") > 0.99, "all of them in one");
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

test("Symbol.dispose closes, as using does", () => {
  const { ids } = scripted();
  ids.next();
  assert.equal(ids[Symbol.dispose](), undefined);
  assert.throws(ids.next, { code: "CLOSED" });
  ids[Symbol.dispose]();
});

test("closing one of two twins leaves the other one at work, on the same state", () => {
  const [a, b] = [new Snowflake({ node: 22 }), new Snowflake({ node: 22 })];
  const issued = [a.next(), b.next()];
  a.close();
  issued.push(b.next(), new Snowflake({ node: 22 }).next());
  assert.equal(repeats(issued), 0);
  assert.ok(increasing(issued));
  assert.throws(a.next, { code: "CLOSED" });
});

test("closing a private generator does not touch another that gets its place", () => {
  const [first] = [scripted().ids];
  first.next();
  first.close();
  const second = scripted().ids;
  assert.deepEqual(positions([second.next()]), [0]);
  first.close();
  assert.throws(first.next, { code: "CLOSED" });
  assert.deepEqual(positions(second.nextMany(3)), [1, 2, 3]);
});

test("100,000 private generators, opened and closed, take no more place than a few", () => {
  scripted();
  const place = port().numbers[slot.HANDLE];
  const bytes = port().binding.memory.buffer.byteLength;
  for (let at = 0; at < 100_000; at++) {
    const { ids } = scripted();
    if (at % 1000 === 0) assert.deepEqual(positions([ids.next()]), [0]);
    ids.close();
  }
  scripted();
  // Places that others gave back meanwhile may be taken, too.
  assert.ok(port().numbers[slot.HANDLE] < place + 1000, `place ${port().numbers[slot.HANDLE]}, ${place} before`);
  assert.equal(port().binding.memory.buffer.byteLength, bytes);
});

test("20,000 private generators, opened and forgotten, do no harm", async () => {
  const kept = scripted().ids;
  for (let at = 0; at < 20_000; at++) {
    scripted().ids.next();
    if (at % 5000 === 0) await sleep(0);
  }
  assert.deepEqual(positions(kept.nextMany(3)), [0, 1, 2]);
});

test("a forgotten private generator gives its place back, and a detached method keeps its generator", async () => {
  const script = `
    import { Snowflake } from "frazil";
    const now = () => ${start};
    const places = () => {
      new Snowflake({ node: 7, now }).close();
      return globalThis[Symbol.for("frazil")].numbers[${slot.HANDLE}];
    };
    let { next } = new Snowflake({ node: 7, now });
    next();
    for (let round = 0; round < 20; round++) {
      for (let at = 0; at < 1000; at++) new Snowflake({ node: 7, now });
      gc();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    process.stdout.write(JSON.stringify({ places: places(), sequence: Number(next() & 0xfffn) }));
  `;
  const { places, sequence } = await inProcess(script, { flags: ["--expose-gc"] });
  assert.ok(places < 10_000, `${places} of 20,000 places are taken`);
  assert.equal(sequence, 1);
});

test("a million generators with the same options leak nothing and repeat nothing", async () => {
  const script = `
    import { Snowflake } from "frazil";
    const count = 1_000_000;
    const issued = new BigUint64Array(count);
    const options = { node: 23, maxWaitMs: 1000 };
    const mint = (first, end) => {
      for (let at = first; at < end; at++) issued[at] = new Snowflake(options).next();
    };
    const memory = () => (gc(), process.memoryUsage());
    mint(0, 1000);
    const before = memory();
    mint(1000, count);
    const after = memory();
    let repeated = 0;
    for (let at = 1; at < count; at++) if (issued[at] <= issued[at - 1]) repeated++;
    const { buffer } = globalThis[Symbol.for("frazil")].binding.memory;
    process.stdout.write(JSON.stringify({ repeated, heap: after.heapUsed - before.heapUsed, page: buffer.byteLength }));
  `;
  const { repeated, heap, page } = await inProcess(script, { flags: ["--expose-gc"] });
  // One thread, one word that only grows: an ID that is not larger than the last would be a repeat.
  assert.equal(repeated, 0);
  assert.ok(heap < 2e6, `the heap grew by ${heap} bytes`);
  assert.ok(page < 2e6, `the memory of the module has ${page} bytes`);
});

// Waiting

test("IDs beyond the cap wait within maxWaitMs, asleep", () => {
  const ids = new Snowflake({ node: 24, maxWaitMs: 1000 });
  ids.next();
  const { user, system } = process.cpuUsage();
  const began = performance.now();
  const target = ids.fill(new BigUint64Array(1_000_000));
  const wallMs = performance.now() - began;
  const used = process.cpuUsage({ user, system });
  assert.ok(increasing([...target.subarray(0, 20_000)]));
  assert.ok(ids.stats().waitedMs > 0);
  // A million IDs are 244 ms of ID time, and the lead is 10 ms.
  assert.ok(wallMs > 200, `${wallMs} ms`);
  const busyMs = (used.user + used.system) / 1000;
  assert.ok(busyMs < 0.7 * wallMs, `busy for ${busyMs} of ${wallMs} ms: it spins`);
});

test("a clock that stands still is waited for as often as maxWaitMs allows, and no more", () => {
  const { ids, clock } = scripted({ maxLeadMs: 0, maxWaitMs: 3 });
  ids.nextMany(4096);
  clock.reads = 0;
  assert.throws(ids.next, { code: "SEQUENCE_EXHAUSTED", retryAfterMs: 1 });
  // Each of the four attempts looks twice before it believes the clock.
  assert.equal(clock.reads, 8);
  const { stalls, rechecks, waitedMs } = ids.stats();
  assert.deepEqual({ stalls, rechecks, waitedMs }, { stalls: 4, rechecks: 4, waitedMs: 3 });
});

test("a wait that maxWaitMs does not cover is not begun", () => {
  const { ids, clock } = scripted({ maxWaitMs: 50 });
  ids.next();
  clock.ms -= 1000;
  clock.reads = 0;
  assert.throws(ids.next, { code: "CLOCK_BACKWARD", retryAfterMs: 990 });
  assert.deepEqual([clock.reads, ids.stats().waitedMs], [2, 0]);
});

test("a short step back is waited out", () => {
  let back = 0;
  const now = () => start - (back > 0 ? back-- : 0);
  const ids = new Snowflake({ node: 7, maxLeadMs: 0, maxWaitMs: 20, now });
  const first = ids.next();
  back = 6;
  assert.deepEqual(positions([first, ids.next()]), [0, 1]);
  // Two looks each: 6 and 5 ms behind, then 4 and 3, then 2 and 1.
  assert.equal(ids.stats().waitedMs, 5 + 3 + 1);
});

test("every call has its own maxWaitMs", () => {
  const { ids, clock } = scripted({ maxLeadMs: 0, maxWaitMs: 2 });
  ids.nextMany(4096);
  for (const _ of [1, 2]) {
    clock.reads = 0;
    assert.throws(ids.next, { code: "SEQUENCE_EXHAUSTED" });
    assert.equal(clock.reads, 6);
  }
  assert.equal(ids.stats().waitedMs, 4);
});

test("a count that could never be met is refused with the largest that could, before anything is issued", async () => {
  const { ids, clock } = scripted({ maxLeadMs: 2, maxWaitMs: 0, maxAsyncWaitMs: 1 });
  const refused = { code: "SEQUENCE_EXHAUSTED", name: "ClockError", retryable: false, field: "count" };
  for (const call of [ids.nextMany, ids.nextManyStrings, (count) => ids.fill(new BigUint64Array(count))]) {
    assert.throws(() => call(3 * 4096 + 1), { ...refused, value: 3 * 4096 + 1, maxCount: 3 * 4096 });
  }
  for (const call of [
    ids.nextManyAsync,
    ids.nextManyStringsAsync,
    (count) => ids.fillAsync(new BigUint64Array(count)),
  ]) {
    await assert.rejects(call(4 * 4096 + 1), { ...refused, value: 4 * 4096 + 1, maxCount: 4 * 4096 });
  }
  assert.deepEqual([ids.stats().issued, clock.reads], [0, 0]);
  assert.deepEqual(positions(ids.nextMany(3 * 4096)), from(0, 3 * 4096));
});

test("the largest count that can be met is met", () => {
  const ids = new Snowflake({ node: 25, maxWaitMs: 1000 });
  assert.equal(repeats([...ids.fill(new BigUint64Array(2 ** 20))]), 0);
});

test("a stall midway says how many were issued: those are good, and never come again", () => {
  const { ids, clock } = scripted({ maxLeadMs: 2 });
  const before = times(4, ids.next);
  const target = new BigUint64Array(3 * 4096);
  let error;
  try {
    ids.fill(target);
  } catch (caught) {
    error = caught;
  }
  assert.equal(error?.code, "SEQUENCE_EXHAUSTED");
  assert.equal(error.issued, 3 * 4096 - 4);
  assert.equal(error.retryAfterMs, 1);
  const got = [...target.subarray(0, error.issued)];
  assert.deepEqual(positions([...before, ...got]), from(0, 3 * 4096));
  assert.deepEqual([...target.subarray(error.issued)], [0n, 0n, 0n, 0n]);
  assert.equal(ids.stats().issued, 3 * 4096);
  clock.ms += 1;
  const after = ids.nextMany(100);
  assert.deepEqual(positions(after), from(3 * 4096, 100));
});

test("a stall at the first ID says that none was issued", () => {
  const { ids } = scripted({ maxLeadMs: 0 });
  ids.nextMany(4096);
  assert.throws(() => ids.fill(new BigUint64Array(1)), { code: "SEQUENCE_EXHAUSTED", issued: 0 });
});

// Waiting without holding the event loop

test("nextAsync waits until the clock moves on, and lets others run meanwhile, whatever maxWaitMs is", async () => {
  const { ids, clock } = scripted({ maxLeadMs: 0, maxWaitMs: 1000 });
  ids.nextMany(4096);
  clock.reads = 0;
  const waiting = [ids.nextAsync(), ids.nextManyAsync(2), ids.fillAsync(new BigUint64Array(2))];
  // One attempt each, two looks at the clock; blocking would look again and again.
  assert.equal(clock.reads, 6);
  let others = 0;
  const ticking = setInterval(() => {
    if (++others === 5) clock.ms += 1;
  }, 1);
  const [id, many, filled] = await Promise.all(waiting);
  clearInterval(ticking);
  const issued = positions([id, ...many, ...filled]).sort((a, b) => a - b);
  assert.deepEqual(issued, from(4096, 5));
  assert.ok(others >= 5);
  assert.ok(ids.stats().waitedMs > 0);
});

test("nextAsync, nextManyAsync and fillAsync give up after maxAsyncWaitMs, in all", async () => {
  for (const call of ["nextAsync", "nextStringAsync", "nextManyAsync", "nextManyStringsAsync", "fillAsync"]) {
    const { ids, clock } = scripted({ maxLeadMs: 0, maxAsyncWaitMs: 3 });
    ids.nextMany(4096);
    clock.reads = 0;
    const argument = { nextManyAsync: 1, nextManyStringsAsync: 1, fillAsync: new BigUint64Array(1) }[call];
    await assert.rejects(ids[call](argument), { code: "SEQUENCE_EXHAUSTED", retryAfterMs: 1 }, call);
    assert.deepEqual([clock.reads, ids.stats().waitedMs], [8, 3], call);
  }
});

test("with maxAsyncWaitMs 0 an asynchronous call does not wait", async () => {
  const { ids } = scripted({ maxLeadMs: 0, maxAsyncWaitMs: 0 });
  ids.nextMany(4096);
  await assert.rejects(ids.nextAsync(), { code: "SEQUENCE_EXHAUSTED" });
  assert.equal(ids.stats().waitedMs, 0);
});

test("an asynchronous call is not held back by maxWaitMs 0", async () => {
  const ids = new Snowflake({ node: 26, maxWaitMs: 0 });
  const issued = await ids.nextManyAsync(300_000);
  assert.equal(repeats(issued), 0);
  assert.ok(increasing(issued));
});

const reasons = {
  "its own reason": undefined,
  "a reason of the caller's": new TypeError("enough"),
  "no error at all": "enough",
};
for (const [name, reason] of Object.entries(reasons)) {
  test(`a signal that was aborted before the call, with ${name}, rejects and issues nothing`, async () => {
    const { ids } = scripted();
    const [last] = ids.nextMany(1);
    const signal = AbortSignal.abort(reason);
    const isReason = (error) => error === signal.reason;
    await assert.rejects(ids.nextAsync({ signal }), isReason);
    await assert.rejects(ids.nextStringAsync({ signal }), isReason);
    await assert.rejects(ids.nextManyAsync(5, { signal }), isReason);
    await assert.rejects(ids.nextManyStringsAsync(5, { signal }), isReason);
    await assert.rejects(ids.fillAsync(new BigUint64Array(5), { signal }), isReason);
    assert.equal(ids.stats().issued, 1);
    assert.equal(ids.next(), last + 1n);
  });

  test(`a signal that is aborted during the wait, with ${name}, rejects and loses no ID`, async () => {
    const { ids, clock } = scripted({ maxLeadMs: 0 });
    ids.nextMany(4096);
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = [ids.nextAsync({ signal }), ids.nextStringAsync({ signal }), ids.nextManyAsync(5, { signal })];
    waiting.push(ids.fillAsync(new BigUint64Array(5), { signal }));
    setTimeout(() => controller.abort(reason), 5);
    for (const result of await Promise.allSettled(waiting)) {
      assert.equal(result.status, "rejected");
      assert.equal(result.reason, signal.reason);
    }
    clock.ms += 1;
    assert.deepEqual(positions(ids.nextMany(10)), from(4096, 10));
  });
}

test("an aborted wait leaves no timer and no listener behind", async () => {
  const script = `
    import { getEventListeners } from "node:events";
    import { Snowflake } from "frazil";
    const ids = new Snowflake({ node: 7, maxLeadMs: 0, maxAsyncWaitMs: 2 ** 31 - 1, now: () => ids === undefined ? 0 : time });
    let time = ${start};
    ids.next();
    time -= 1e9;
    const controller = new AbortController();
    const waiting = ids.nextAsync({ signal: controller.signal });
    setTimeout(() => controller.abort(), 5);
    await waiting.catch(() => {});
    time = ${start};
    await ids.nextAsync({ signal: controller.signal }).catch(() => {});
    process.stdout.write(JSON.stringify(getEventListeners(controller.signal, "abort").length));
  `;
  // The wait that was aborted is one of eleven days: a timer left behind would keep the process from ending.
  assert.equal(await inProcess(script), 0);
});

test("an abort between two waits ends the call", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  let reads = 0;
  const now = () => {
    // In the second attempt, when no listener is there to hear it.
    if (++reads === 4100) controller.abort();
    return start;
  };
  const ids = new Snowflake({ node: 7, layout: tiny, maxWaitMs: 0, maxLeadMs: 0, maxAsyncWaitMs: 1000, now });
  ids.nextMany(4);
  reads = 4100 - 4;
  await assert.rejects(ids.nextAsync({ signal }), { name: "AbortError" });
  assert.ok(ids.stats().waitedMs < 10, `${ids.stats().waitedMs}`);
});

test("IDs that an aborted nextManyAsync had got are issued by the calls after it, in order", async () => {
  const { ids, clock } = scripted({ maxLeadMs: 0 });
  const first = times(4, ids.next);
  const controller = new AbortController();
  const waiting = ids.nextManyAsync(5000, { signal: controller.signal });
  await sleep(3);
  assert.equal(ids.stats().issued, 4096);
  controller.abort();
  await assert.rejects(waiting, { name: "AbortError" });
  assert.equal(ids.stats().issued, 4);
  assert.deepEqual(positions([...first, ids.next(), ...ids.nextMany(3)]), from(0, 8));
  // The time passes, and what was kept is still first.
  clock.ms += 5;
  const rest = [...ids.fill(new BigUint64Array(4088)), ids.next()];
  assert.deepEqual(positions(rest), [...from(8, 4088), 5 * 4096]);
  assert.equal(ids.stats().dropped, 0);
});

test("IDs that an aborted call had got are not issued after larger ones: the order is kept", async () => {
  const { ids, clock } = scripted({ maxLeadMs: 0 });
  const controller = new AbortController();
  const waiting = ids.nextManyAsync(5000, { signal: controller.signal });
  await sleep(0);
  clock.ms += 1;
  const [meanwhile] = ids.nextMany(1);
  controller.abort();
  await assert.rejects(waiting, { name: "AbortError" });
  const after = ids.nextMany(10);
  assert.ok(increasing([meanwhile, ...after]));
  const { issued, dropped } = ids.stats();
  assert.deepEqual({ issued, dropped }, { issued: 11, dropped: 4096 });
});

test("an aborted nextManyAsync on a generator that was closed meanwhile brings nothing back", async () => {
  const { ids } = scripted({ maxLeadMs: 0 });
  const controller = new AbortController();
  const waiting = ids.nextManyAsync(5000, { signal: controller.signal });
  await sleep(0);
  ids.close();
  controller.abort();
  await assert.rejects(waiting, { name: "AbortError" });
  assert.throws(ids.next, { code: "CLOSED" });
  assert.throws(() => ids.nextMany(1), { code: "CLOSED" });
});

test("closing ends the waits of the generator", async () => {
  const { ids } = scripted({ maxLeadMs: 0 });
  ids.nextMany(4096);
  const waiting = [ids.nextAsync(), ids.nextManyAsync(3), ids.fillAsync(new BigUint64Array(3))];
  ids.close();
  for (const result of await Promise.allSettled(waiting)) assert.equal(result.reason?.code, "CLOSED");
});

test("asynchronous calls at the same time never repeat each other", async () => {
  const ids = new Snowflake({ node: 27 });
  const calls = times(2000, (at) => {
    if (at % 20 === 0) return ids.nextManyAsync(1000);
    if (at % 20 === 10) return ids.fillAsync(new BigUint64Array(500)).then((target) => [...target]);
    return ids.nextAsync().then((id) => [id]);
  });
  const lists = await Promise.all(calls);
  const issued = lists.flat();
  assert.equal(issued.length, 100 * 1000 + 100 * 500 + 1800);
  assert.equal(repeats(issued), 0);
  assert.ok(lists.every(increasing));
  assert.equal(ids.stats().issued, issued.length);
});

test("asynchronous calls that stall together and are aborted by halves never repeat each other", async () => {
  const { ids, clock } = scripted({ maxLeadMs: 1 });
  const ticking = setInterval(() => clock.ms++, 2);
  const issued = [];
  const calls = times(60, async (at) => {
    const controller = new AbortController();
    if (at % 2 === 1) setTimeout(() => controller.abort(), at / 3);
    await ids.nextManyAsync(1000, { signal: controller.signal }).then(
      (got) => issued.push(...got),
      (error) => assert.equal(error.name, "AbortError"),
    );
    issued.push(await ids.nextAsync());
  });
  await Promise.all(calls);
  clearInterval(ticking);
  assert.ok(issued.length > 30_000);
  assert.equal(repeats(issued), 0);
  assert.equal(ids.stats().issued, issued.length);
});

// Layouts and node ids

test("a layout is given by name, as its parts, or made already, with or without another epoch", () => {
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

test("without a layout it is the default one", () => {
  const { ids } = scripted();
  assert.deepEqual(ids.layout.toJSON(), Layout.named("default").toJSON());
  assert.equal(ids.next(), (BigInt(start - 1704067200000) << 22n) | (7n << 12n));
});

test("every named layout mints IDs that it decodes to the time, the node id and the sequence", () => {
  for (const name of Layout.names) {
    const layout = Layout.named(name);
    const plan = layout.plan();
    const hasNode = plan.nodes > 1;
    const nodeId = plan.nodes - 1;
    // `baidu` ended in 2024.
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

test("the node ids at both ends are good", () => {
  for (const node of [0, 1023]) assert.equal(scripted({ node }).ids.decode(scripted({ node }).ids.next()).node, node);
});

test("the backend is the one that FRAZIL_BACKEND names", () => {
  assert.equal(backend, process.env.FRAZIL_BACKEND ?? "native");
  assert.equal(new Snowflake({ node: 7 }).backend, backend);
  assert.equal(new Snowflake({ node: 7 }).stats().backend, backend);
});

// The process

test("the very first ID of a process comes without an error, and after its start", async () => {
  const script = `
    import { Snowflake } from "frazil";
    const ids = new Snowflake({ node: 28 });
    const id = ids.next();
    process.stdout.write(JSON.stringify({ ms: ids.decode(id).timestampMs, start: performance.timeOrigin, waitedMs: ids.stats().waitedMs }));
  `;
  for (let round = 0; round < 5; round++) {
    const { ms, start } = await inProcess(script);
    assert.ok(ms > start + 10, `${ms - start} ms after the start, although the predecessor had a lead of 10 ms`);
  }
});

test("importing reads no clock, draws nothing at random, and loads no core", async () => {
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
  // The refusals must bite: the first generator does ask.
  assert.deepEqual(await inProcess(script), { untouched: true, asked: true });
});

test("a backend that nobody knows is refused by the first generator, not by the import", async () => {
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
  const { year, errors } = await inProcess(script, { env: { FRAZIL_BACKEND: "nonsense" } });
  assert.equal(year, 2022);
  assert.equal(errors.length, 2);
  for (const error of errors) {
    const { code, field, value, rule } = error;
    assert.deepEqual(
      [code, field, value, rule],
      ["INVALID_OPTION", "FRAZIL_BACKEND", '"nonsense"', "must be native or wasm"],
    );
  }
});

// Memory that moves

test("WebAssembly memory that grows between two calls changes nothing", {
  skip: native && "the addon's page never moves",
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

test("WebAssembly memory that grows within a call changes nothing", {
  skip: native && "the addon's page never moves",
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

// Copies that meet

test("ESM import and CommonJS require give the same class", () => assert.equal(require("frazil").Snowflake, Snowflake));

test("a second copy of the package shares the states of the first", async () => {
  const folder = copyPackage();
  const before = port();
  const copies = [
    await import(`${folder}/dist/node.mjs`),
    await import(`${folder}/dist/inline.mjs`),
    require(`${folder}/dist/inline.cjs`),
  ];
  const classes = [Snowflake, ...copies.map((copy) => copy.Snowflake)];
  assert.equal(new Set(classes).size, 4, "they must be copies");
  const generators = classes.map((each) => new each({ node: 29, maxWaitMs: 1000 }));
  const issued = times(40_000, (at) => generators[at % 4].next());
  assert.equal(repeats(issued), 0);
  assert.equal(port(), before);
  assert.deepEqual(
    generators.map((ids) => ids.backend),
    [backend, backend, backend, backend],
  );
  // Waiting works with the errors of another copy, too.
  const now = () => start;
  const stalled = new classes[1]({ node: 7, maxLeadMs: 0, maxWaitMs: 2, maxAsyncWaitMs: 2, now });
  stalled.nextMany(4096);
  assert.throws(stalled.next, { code: "SEQUENCE_EXHAUSTED" });
  await assert.rejects(stalled.nextAsync(), { code: "SEQUENCE_EXHAUSTED" });
  assert.equal(stalled.stats().waitedMs, 4);
});

test("a copy that is first serves the one after it", async () => {
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
  assert.deepEqual(await inProcess(script), { same: true, backend: "wasm", repeats: 0 });
});

test("a copy that speaks another version of the page is refused, and Layout still works", async () => {
  const script = `
    globalThis[Symbol.for("frazil")] = { abi: 4711, binding: { backend: "native" } };
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
  const { year, error } = await inProcess(script);
  assert.equal(year, 2022);
  assert.equal(error.code, "STATE_CONFLICT");
  assert.equal(error.name, "ConfigError");
  assert.match(error.message, /4711/);
});
