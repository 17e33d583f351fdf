// After larger IDs of other calls, IDs that an aborted `nextManyAsync` had reserved must not be issued.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { repeats } from "./broken-generators.mjs";
import { increasing, scripted, start, times } from "./scripted-clock.mjs";

/**
 * Begins a call for more IDs than its clock allows, so that it waits repeatedly; returns the call and a function that aborts
 * it.
 */
function begin(ids, count) {
  const controller = new AbortController();
  const call = ids.nextManyAsync(count, { signal: controller.signal });
  const ended = call.then(
    (got) => got,
    () => undefined,
  );
  return { abort: () => controller.abort(), ended };
}

test("IDs reserved before a larger one was issued are dropped, although the call reserved more after it", async () => {
  const { ids, clock } = scripted({ maxLeadMs: 0 });
  const { abort, ended } = begin(ids, 3 * 4096);
  await sleep(0);
  clock.ms += 1;
  const larger = ids.next();
  while (ids.stats().issued < 4096 + 2) await sleep(1);
  abort();
  await ended;
  clock.ms += 1;
  assert.ok(increasing([larger, ...times(5, ids.next)]));
  assert.equal(ids.stats().issued, 6);
});

test("IDs of two aborted calls are kept only if no larger one was issued in between", async () => {
  const { ids, clock } = scripted({ maxLeadMs: 0 });
  const calls = [begin(ids, 5 * 4096), begin(ids, 5 * 4096)];
  await sleep(0);
  clock.ms += 1;
  while (ids.stats().issued < 2 * 4096) await sleep(1);
  for (const { abort } of calls) abort();
  await Promise.all(calls.map(({ ended }) => ended));
  clock.ms += 1;
  assert.ok(increasing([...times(4000, ids.next), ...ids.nextMany(3)]));
  const { issued } = ids.stats();
  assert.equal(issued, 4003);
});

test("an ID that the clock mints during a reservation counts as a larger one too", async () => {
  let minting = false;
  let ms = start;
  const seen = [];
  const now = () => {
    if (minting) {
      minting = false;
      seen.push(generator.ids.next());
    }
    return ms;
  };
  const generator = scripted({ maxLeadMs: 0, now });
  const { ids } = generator;
  const { abort, ended } = begin(ids, 3 * 4096);
  await sleep(0);
  ms += 1;
  minting = true;
  while (ids.stats().issued < 4097) await sleep(1);
  abort();
  await ended;
  ms += 1;
  seen.push(...times(5, ids.next));
  assert.ok(increasing(seen));
});

/** A broken generator: it keeps the IDs of an aborted call unless an ID was issued after the *last* attempt. */
function keepingTooMuch() {
  const clock = { ms: start };
  const kept = [];
  let word = BigInt(start) << 12n;
  const reserve = () => {
    const now = BigInt(clock.ms) << 12n;
    if (word < now) word = now;
    return word >> 12n > BigInt(clock.ms) ? undefined : word++;
  };
  const next = () => kept.shift() ?? reserve();
  let handedOut = 0;
  const nextManyAsync = async (count, { signal }) => {
    const got = [];
    let last = handedOut;
    while (got.length < count) {
      for (let id = next(); id !== undefined; id = got.length < count ? next() : undefined) got.push(id);
      last = handedOut;
      await sleep(1);
      if (signal.aborted) {
        if (last === handedOut) kept.unshift(...got);
        throw signal.reason;
      }
    }
    return got;
  };
  const ids = {
    next() {
      handedOut++;
      return next();
    },
    nextManyAsync,
  };
  return { ids, clock };
}

/** An ID, or `undefined` if the clock does not allow one yet. */
function tryNext(ids) {
  try {
    return ids.next();
  } catch (error) {
    assert.equal(error.code, "SEQUENCE_EXHAUSTED");
    return undefined;
  }
}

/** All IDs of `next()` while other calls are begun and aborted at random. */
async function abortAtRandom({ ids, clock }, rounds) {
  const got = [];
  for (let round = 0; round < rounds; round++) {
    const calls = times(1 + (round % 2), () => begin(ids, 20_000));
    for (let step = 0; step < 3; step++) {
      await sleep(2);
      if (Math.random() < 0.8) clock.ms += 1;
      if (Math.random() < 0.5) got.push(tryNext(ids));
    }
    clock.ms += 1;
    await sleep(2);
    for (const { abort } of calls) abort();
    for (const { ended } of calls) await ended;
    clock.ms += 1;
    for (let at = 0; at < 3; at++) got.push(tryNext(ids));
  }
  return got.filter((id) => id !== undefined);
}

test("calls that are aborted at random neither repeat nor disorder the IDs of other calls", async () => {
  const got = await abortAtRandom(scripted({ maxLeadMs: 20 }), 60);
  assert.ok(got.length > 150, `${got.length}`);
  assert.equal(repeats(got), 0);
  assert.ok(increasing(got));
  assert.ok(!increasing(await abortAtRandom(keepingTooMuch(), 60)), "the checker must catch the mutant");
});
