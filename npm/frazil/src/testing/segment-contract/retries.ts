/** Scenarios of an attempt that is repeated because its answer was lost or late. */
import assert from "node:assert/strict";

import type { Bench, Range, Scenario } from "../contract/counter.js";
import { draw } from "../contract/holder.js";

const numbersOf = ({ first, count }: Range) => ({ first, count });

async function aRepeatedAttemptGetsTheSameRange(bench: Bench) {
  const counter = await bench.counter();
  const process = counter.process();
  const attempt = draw();
  const range = await process.allocate({ attempt });
  // The answer was lost: the process knows no range, and others allocate in the meantime.
  let next = range.end;
  for (let others = 0; others < 8; others++) {
    assert.deepEqual(numbersOf(await process.allocate({ attempt, above: 0n })), numbersOf(range));
    await counter.isAt(next, "the retry took numbers");
    next += 1n;
  }
  assert.equal((await process.allocate({ above: 0n })).first, next, "another attempt got the range");
}

async function anAttemptBesideItsRetryIsOneRange(bench: Bench) {
  const counter = await bench.counter();
  const clients = await counter.processes(4);
  const other = counter.process();
  let next = 1n;
  for (let round = 0; round < 8; round++) {
    const attempt = { holder: draw(), attempt: draw(), above: 0n };
    const tries = clients.map((client) => client.allocate(attempt));
    // In half of the rounds another process races them.
    const raced = round % 2 === 0 ? [] : [other.allocate({ count: 3 })];
    const ranges = (await Promise.all(tries)).map(numbersOf);
    for (const range of ranges) assert.deepEqual(range, ranges[0], "one attempt has two ranges");
    next += 10n + 3n * BigInt((await Promise.all(raced)).length);
    await counter.isAt(next, "the tries of one attempt took more than its numbers");
    next += 1n;
  }
}

async function anAttemptThatIsAbortedAndRepeatedIsOneRange(bench: Bench) {
  const counter = await bench.counter();
  const client = await bench.open.connect?.();
  const reason = new Error("given up");
  let next = 1n;
  for (const afterMs of [undefined, 0, 1, 2, 4, 8]) {
    // A process for each attempt: the store may carry out an aborted try later, and remembers only a process's last attempt.
    const process = counter.process(client);
    const attempt = draw();
    const controller = new AbortController();
    const aborted = process.allocate({ attempt, signal: controller.signal }).catch((error) => {
      assert.equal(error, reason);
    });
    if (afterMs !== undefined) await new Promise((resolve) => setTimeout(resolve, afterMs));
    controller.abort(reason);
    const range = await process.allocate({ attempt, above: 0n });
    assert.equal(range.first, next);
    await aborted;
    next = range.end;
  }
  await counter.isAt(next, "the aborted tries took numbers");
}

async function aRepeatedAttemptIsNeverAnsweredBelow(bench: Bench) {
  const counter = await bench.counter();
  const process = counter.process();
  const attempt = draw();
  const range = await process.allocate({ attempt });
  // The process took the range, but asks again: `rangeIn` checks that it gets another one.
  const again = await process.allocate({ attempt, above: range.end });
  assert.ok(again.first >= range.end);
  await counter.isAt(again.end, "the counter is not at the end of the last range");
}

async function anAttemptOfBeforeRepeatsNoOther(bench: Bench) {
  const counter = await bench.counter();
  const [one, two] = [counter.process(), counter.process()];
  const late = draw();
  const first = await one.allocate({ attempt: late, above: 0n });
  const later = [await one.allocate(), await two.allocate()];
  // A message that was in transit for a long time.
  const range = await one.allocate({ attempt: late, above: 0n });
  if (range.first === first.first) assert.deepEqual(numbersOf(range), numbersOf(first));
  else for (const other of [first, ...later]) assert.ok(range.first >= other.end, "numbers of another attempt");
}

async function theRetryAfterAnotherIncarnation(bench: Bench) {
  const counter = await bench.counter();
  const process = counter.process();
  const attempt = draw();
  const range = await process.allocate({ attempt });
  await bench.open.changeIncarnation?.();
  const again = await process.allocate({ attempt, above: 0n });
  assert.deepEqual(numbersOf(again), numbersOf(range));
  await counter.isAbove(range.end, "other allocations may have been lost");
}

export const retries: readonly Scenario[] = [
  { name: "a repeated attempt gets the same range", needs: ["retries"], run: aRepeatedAttemptGetsTheSameRange },
  { name: "an attempt beside its retry is one range", needs: ["retries"], run: anAttemptBesideItsRetryIsOneRange },
  {
    name: "an attempt that is aborted under way, and repeated, is one range",
    needs: ["retries"],
    run: anAttemptThatIsAbortedAndRepeatedIsOneRange,
  },
  {
    name: "a repeated attempt is never answered below what its process was granted",
    run: aRepeatedAttemptIsNeverAnsweredBelow,
  },
  { name: "an attempt of before the last one repeats no numbers of others", run: anAttemptOfBeforeRepeatsNoOther },
  {
    name: "a repeated attempt gets the same range from another incarnation",
    needs: ["retries", "skips", "changeIncarnation"],
    alone: true,
    run: theRetryAfterAnotherIncarnation,
  },
];
