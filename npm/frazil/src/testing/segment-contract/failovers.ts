/** Scenarios of a store that has lost allocations, or may have. */
import assert from "node:assert/strict";

import { assertSkipped, type Bench, type Scenario } from "../contract/counter.js";

async function nothingBelowWhatTheProcessKnows(bench: Bench) {
  const counter = await bench.counter();
  await counter.process().allocate();
  const above = 500n;
  // It fails if the range begins below.
  const range = await counter
    .process()
    .allocate({ above })
    .catch((error) => error);
  if (range instanceof Error) assert.equal((range as Error & { code?: string }).code, "STORE_REFUSED");
}

async function aCounterBelowWhatTheProcessKnowsSkips(bench: Bench) {
  const counter = await bench.counter();
  await counter.process().allocate();
  const range = await counter.process().allocate({ above: 500n, failoverSkip: 100 });
  assertSkipped(500n, range.first, 100, "above all that the process was granted");
  // Others get the next numbers, without another skip.
  await counter.isAt(range.end, "the counter is not at the end of the range");
  const { first } = await counter.process().allocate({ above: 2000n, failoverSkip: 0 });
  assert.equal(first, 2000n, "a skip of no numbers");
}

async function aProcessThatKnowsLessSkipsNothing(bench: Bench) {
  const counter = await bench.counter();
  let { end } = await counter.process().allocate();
  for (const distance of [10n, 1n, 0n]) {
    const range = await counter.process().allocate({ above: end - distance });
    assert.equal(range.first, end);
    end = range.end;
  }
}

async function anotherIncarnationSkipsOnce(bench: Bench) {
  const change = bench.open.changeIncarnation as () => Promise<void>;
  const counter = await bench.counter();
  const [process, other] = [counter.process(), counter.process()];
  let { end } = await process.allocate();
  await change();
  const skipping = await other.allocate({ failoverSkip: 300 });
  assertSkipped(end, skipping.first, 300, "the first range of another incarnation");
  ({ end } = skipping);
  for (const who of [process, other]) {
    const range = await who.allocate({ failoverSkip: 300 });
    assert.equal(range.first, end, "the same incarnation skips a second time");
    ({ end } = range);
  }
  await change();
  assert.equal((await process.allocate({ failoverSkip: 0 })).first, end, "a skip of no numbers");
  await counter.isAt(end + 10n, "a skip of no numbers is a skip as well");
  // The process knows more than the store: the skip starts above that.
  await change();
  const range = await process.allocate({ above: 100_000n, failoverSkip: 7 });
  assertSkipped(100_000n, range.first, 7, "above all that the process was granted");
  await counter.isAt(range.end, "the loss was skipped twice");
  await (await bench.counter(5n)).isAt(5n, "a counter that this incarnation made");
}

/** A skip so long that two of them end at the same number once in 2^39 runs. */
const LONG_SKIP = 2 ** 50;

async function twoLossesFromOneRecordSkipApart(bench: Bench) {
  const counter = await bench.counter();
  await counter.process().allocate();
  const restore = await bench.open.saveRecord?.(counter.tag);
  let ends: [first: bigint, end: bigint][] = [];
  for (let loss = 0; loss < 3; loss++) {
    await bench.open.changeIncarnation?.();
    const { first, end } = await counter.process().allocate({ failoverSkip: LONG_SKIP });
    const isApart = ends.every(([otherFirst, otherEnd]) => end <= otherFirst || first >= otherEnd);
    assert.ok(isApart, `the numbers from ${first} on were allocated after two losses of the same record`);
    ends = [...ends, [first, end]];
    await restore?.();
  }
}

export const failovers: readonly Scenario[] = [
  { name: "no range begins below what the process was granted", run: nothingBelowWhatTheProcessKnows },
  {
    name: "a counter below what a process was granted skips, above that",
    needs: ["skips"],
    run: aCounterBelowWhatTheProcessKnowsSkips,
  },
  { name: "a process that knows less than the counter skips nothing", run: aProcessThatKnowsLessSkipsNothing },
  {
    name: "another incarnation skips exactly once",
    needs: ["skips", "changeIncarnation"],
    alone: true,
    run: anotherIncarnationSkipsOnce,
  },
  {
    name: "two losses of the same record skip to different numbers",
    needs: ["skips", "changeIncarnation", "saveRecord"],
    alone: true,
    run: twoLossesFromOneRecordSkipApart,
  },
];
