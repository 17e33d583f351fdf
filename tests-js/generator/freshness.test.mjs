// `freshness: "turn"`: a block serves until the turn of the event loop ends, without reading the clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Layout, Snowflake } from "frazil";
import { repeats } from "./broken-generators.mjs";
import { from, increasing, positions, scripted, start, times } from "./scripted-clock.mjs";

const ofTurns = (options) => scripted({ freshness: "turn", ...options });

test("in a turn the clock is read once for each block, and blocks double", () => {
  const { ids, clock } = ofTurns();
  const issued = times(1023, ids.next);
  assert.deepEqual(positions(issued), from(0, 1023));
  // Blocks of 1, 2, 4 … 512.
  assert.equal(clock.reads, 10);
  const perCall = scripted();
  times(1023, perCall.ids.next);
  assert.equal(perCall.clock.reads, 1023, "the checker must see a generator that reads the clock at each call");
});

test("the time in an ID is as old as its turn at most: the next turn reads the clock", async () => {
  const { ids, clock } = ofTurns();
  times(600, ids.next);
  clock.ms += 50;
  const late = ids.next();
  assert.equal(ids.decode(late).timestampMs, start, "the block has a rest, which serves for the whole turn");
  await null;
  assert.equal(ids.decode(ids.next()).timestampMs, start + 50);
});

test("a block that has a rest serves the next turn as well while its tick lasts, after one look at the clock", async () => {
  const { ids, clock } = ofTurns();
  times(600, ids.next);
  await turn();
  clock.reads = 0;
  const issued = times(100, ids.next);
  assert.equal(clock.reads, 1);
  assert.deepEqual(positions(issued), from(600, 100));
  assert.equal(ids.stats().dropped, 0);
});

/** Turns in which the clock steps to and fro, each with a few calls of every kind. */
async function turns(ids, clock, count) {
  const issued = [];
  for (let at = 0; at < count; at++) {
    clock.ms += [1, 0, -2, 3, 0, 0, -1, 2][at % 8];
    issued.push(...times(1 + ((at * 7) % 40), ids.next));
    if (at % 5 === 0) issued.push(...ids.nextMany(3));
    clock.ms += at % 3;
    issued.push(BigInt(ids.nextString()), ids.next());
    if (at % 2 === 0) await null;
    else await turn();
  }
  return issued;
}

test("turns, other calls and a clock that steps back repeat nothing, and IDs increase", async () => {
  const { ids, clock } = ofTurns({ maxLeadMs: 1000 });
  const issued = await turns(ids, clock, 2000);
  assert.equal(repeats(issued), 0);
  assert.ok(increasing(issued));
  const { issued: counted, dropped } = ids.stats();
  assert.equal(counted, issued.length);
  assert.ok(dropped > 0, "blocks must have had a rest");

  // What serves an ID once more in the next turn must be caught.
  const mutant = ofTurns({ maxLeadMs: 1000 });
  let last;
  let calls = 0;
  const next = () => {
    if (calls++ % 10 !== 9) last = mutant.ids.next();
    return last;
  };
  assert.ok(repeats(await turns({ ...mutant.ids, next }, mutant.clock, 200)) > 0);
});

test("close() ends the block in the middle of a turn", () => {
  const { ids } = ofTurns();
  times(600, ids.next);
  ids.close();
  assert.throws(ids.next, { code: "CLOSED" });
});

test("the IDs of an aborted call are issued first, in this turn and the next", async () => {
  const { ids } = ofTurns({ layout: "default", maxLeadMs: 0 });
  const controller = new AbortController();
  const pending = ids.nextManyAsync(10_000, { signal: controller.signal });
  controller.abort();
  await assert.rejects(pending, { name: "AbortError" });
  const issued = times(2000, ids.next);
  await turn();
  issued.push(...times(2000, ids.next));
  assert.deepEqual(positions(issued), from(0, 4000));
});

test("static generators of one node id share a state, whatever their freshness", () => {
  const layout = Layout.named("default");
  const options = { layout, node: 911, maxWaitMs: 1000 };
  const [one, other] = [new Snowflake({ ...options, freshness: "turn" }), new Snowflake(options)];
  const issued = times(50_000, (at) => (at % 3 === 0 ? other : one).next());
  assert.equal(repeats(issued), 0);
});
