// Blocks of reserved IDs: length, dropped IDs, and order.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Layout, Snowflake } from "frazil";
import { blockSizes, from, increasing, positions, scripted, start, times, tinyLayout } from "./scripted-clock.mjs";
import { wideLayout } from "./wide-layout.mjs";

// Blocks

test("blocks start at one ID and double while they are used up within a tick, up to a quarter of the sequence", () => {
  const doubling = times(10, (at) => 2 ** at);
  assert.deepEqual(blockSizes(scripted().ids, 1023 + 3 * 1024), [...doubling, 1024, 1024, 1024]);
  assert.deepEqual(blockSizes(scripted({ layout: "edge" }).ids, 63 + 3 * 64), [1, 2, 4, 8, 16, 32, 64, 64, 64]);
  assert.deepEqual(
    blockSizes(scripted({ layout: tinyLayout }).ids, 12),
    times(12, () => 1),
  );
});

test("a block is at most 4096 IDs, however wide the sequence", () => {
  const { ids } = scripted({ layout: wideLayout, node: 1 });
  assert.deepEqual(blockSizes(ids, 4095 + 3 * 4096), [...times(12, (at) => 2 ** at), 4096, 4096, 4096]);
});

test("a generator that mints one ID per tick drops none", () => {
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

test("the rest of a block is dropped when the clock steps back, and IDs still increase", () => {
  const { ids, clock } = scripted();
  times(4, ids.next);
  clock.ms -= 3;
  // The block of four had the positions 3 to 6.
  assert.deepEqual(positions([ids.next()]), [7]);
  assert.equal(ids.stats().dropped, 3);
});

test("a refusal drops no IDs: once the clock is right again, the block is used further", () => {
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

test("fill and nextMany take the rest of the block first and continue after it", async () => {
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

test("a mixture of all calls on a clock that stands still issues every position once, in order, including borrowed ticks", async () => {
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

test("when a tick is full, IDs of later ticks are issued, as far as the lead allows", () => {
  const { ids } = scripted({ maxLeadMs: 2 });
  const issued = times(3 * 4096, ids.next);
  assert.deepEqual(positions(issued), from(0, 3 * 4096));
  assert.equal(ids.decode(issued.at(-1)).timestampMs, start + 2);
  assert.throws(ids.next, { code: "SEQUENCE_EXHAUSTED", retryAfterMs: 1 });
});

test("a tick of ten milliseconds is served from one block while the clock moves within it", () => {
  const { ids, clock } = scripted({ layout: "sonyflake" });
  const layout = Layout.named("sonyflake");
  // Two in the first millisecond: the first alone is no block, since a program that mints now and then needs none.
  const issued = [
    ids.next(),
    ...times(9, (at) => {
      clock.ms = start + at;
      return ids.next();
    }),
  ];
  assert.deepEqual(positions(issued, layout), from(0, 10));
  assert.equal(ids.stats().reservations, 4);
});

test("the largest ID of 64 bits is issued by every call, and the next one is TIME_EXHAUSTED", async () => {
  const layout = {
    epochMs: 0,
    tickMs: 2,
    unsigned: true,
    fields: [
      { kind: "time", bits: 42 },
      { kind: "node", bits: 21 },
      { kind: "sequence", bits: 1 },
    ],
  };
  const [largest, last] = [2n ** 64n - 1n, 2 * (2 ** 42 - 1)];
  for (const take of [
    (ids) => ids.next(),
    (ids) => BigInt(ids.nextString()),
    (ids) => ids.tryNext(),
    (ids) => ids.nextAsync(),
    (ids) => ids.nextMany(1)[0],
    (ids) => ids.fill(new BigUint64Array(1))[0],
  ]) {
    let now = last;
    const ids = new Snowflake({ layout, node: 2 ** 21 - 1, maxWaitMs: 0, maxAsyncWaitMs: 0, now: () => now });
    assert.equal(ids.next(), largest - 1n);
    // Another millisecond of the last tick: `next()` reserves no block for it.
    now += 1;
    assert.equal(await take(ids), largest);
    assert.equal(ids.stats().issued, 2);
    await assert.rejects(async () => take(ids), { code: "TIME_EXHAUSTED" });
    assert.throws(ids.next, { code: "TIME_EXHAUSTED" });
  }
});
