/** Scenarios of `allocate`: the numbers of a range. */
import assert from "node:assert/strict";
import { assertWhole, type Bench, type Range, type Scenario } from "../contract/counter.js";

async function aRangeBeginsWhereTheLastOneEnded(bench: Bench) {
  for (const first of [1n, 2n, 1000n]) {
    const counter = await bench.counter(first);
    const [one, two] = [counter.process(), counter.process()];
    let next = first;
    for (const [process, count] of [
      [one, 10],
      [one, 1],
      [two, 3],
      [one, 1_000_000],
      [two, 2 ** 40],
      [two, 2],
    ] as const) {
      const range = await process.allocate({ count });
      assert.equal(range.first, next);
      next = range.end;
    }
  }
}

async function withoutACountTheStoreDecides(bench: Bench) {
  const counter = await bench.counter();
  const process = counter.process();
  const range = await process.allocate({ count: undefined });
  if (range.step !== undefined) assert.equal(range.count, range.step, "not the step that the store has");
  await counter.isAt(range.end, "the counter did not move by the count of the answer");
}

async function withoutACountARangeHasAtMostMaxCount(bench: Bench) {
  const counter = await bench.counter();
  const process = counter.process();
  for (const maxCount of [100, 1, 7]) {
    const range = await process.allocate({ count: undefined, maxCount });
    assert.ok(range.count <= maxCount, `a range of ${range.count} numbers, where ${maxCount} are the most`);
    if (range.step !== undefined) assert.equal(range.step, range.count, "the step of the answer is another one");
  }
  // A requested count is the caller's decision.
  const range = await process.allocate({ count: 10, maxCount: 5 });
  await counter.isAt(range.end, "the counter did not move by the count of the answer");
}

async function numbersAreExactUpToTheLargest(bench: Bench) {
  for (const first of [2n ** 53n - 3n, 2n ** 62n + 1n, 2n ** 63n - 13n]) {
    const process = (await bench.counter(first)).process();
    for (const begin of [first, first + 10n]) {
      const range = await process.allocate({ count: begin === first ? 10 : 1 });
      assert.equal(range.first, begin);
    }
  }
}

async function numbersThatAreUsedUpAreRefused(bench: Bench) {
  const counter = await bench.counter(2n ** 63n - 21n);
  const process = counter.process();
  const refused = { code: "STORE_REFUSED" };
  for (const given of [{ count: Number.MAX_SAFE_INTEGER }, { count: 22 }, { above: 2n ** 63n - 1n }])
    await assert.rejects(counter.process().allocate(given), refused, "numbers beyond 2^63 - 2");
  // A request that is too large takes nothing from others.
  const last = await process.allocate({ count: 20 }).catch((error) => assert.fail(`numbers are left: ${error}`));
  assert.equal(last.first, 2n ** 63n - 21n);
  assert.equal(last.end, 2n ** 63n - 1n);
  for (const count of [2, 1000]) await assert.rejects(process.allocate({ count }), refused, "the largest is used");
}

async function manyProcessesNeverOverlap(bench: Bench) {
  const counter = await bench.counter();
  const ranges: Range[] = [];
  const processes = await counter.processes(16);
  await Promise.all(
    processes.map(async (process, at) => {
      for (let turn = 0; turn < 20; turn++) ranges.push(await process.allocate({ count: 1 + ((at + turn) % 7) }));
    }),
  );
  assert.equal(ranges.length, 320);
  assertWhole(ranges, 1n);
}

async function aLostRaceLosesNoNumbers(bench: Bench) {
  const counter = await bench.counter();
  const pair = await counter.processes(2);
  const ranges: Range[] = [];
  for (let round = 0; round < 20; round++)
    ranges.push(...(await Promise.all(pair.map((process) => process.allocate({ count: round + 1 })))));
  assertWhole(ranges, 1n);
}

export const ranges: readonly Scenario[] = [
  {
    name: "a range begins where the last one ended, and is as long as was asked",
    run: aRangeBeginsWhereTheLastOneEnded,
  },
  { name: "without a count the store decides", run: withoutACountTheStoreDecides },
  {
    name: "without a count a range has at most maxCount numbers",
    needs: ["limits"],
    run: withoutACountARangeHasAtMostMaxCount,
  },
  { name: "numbers are exact up to 2^63 - 2", run: numbersAreExactUpToTheLargest },
  { name: "numbers beyond 2^63 - 2 are refused, and the refusal takes none", run: numbersThatAreUsedUpAreRefused },
  // Alone, because the others would wait for it.
  { name: "16 processes take 20 ranges each, and none overlaps", alone: true, run: manyProcessesNeverOverlap },
  { name: "of two processes that ask at the same moment none loses numbers", run: aLostRaceLosesNoNumbers },
];
