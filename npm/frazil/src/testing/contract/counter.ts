/** The parts of scenarios in the segment contract: their own counters, and processes that allocate ranges. */
import assert from "node:assert/strict";
import type { AllocateRequest, Allocation, SegmentStore } from "../../stores/segment-store.js";
import { draw } from "./holder.js";

/**
 * Limits that a store may have by design:
 *
 * - `"retries"`: cannot recognise a repeated attempt. It then allocates another range;
 * - `"skips"`: cannot move a counter that has lost allocations. It then refuses to allocate;
 * - `"limits"`: cannot give fewer numbers than its own step for the tag, if no count is requested;
 * - `"tags"`: cannot have counters of every tag of up to 128 characters.
 */
export type Inability = "retries" | "skips" | "limits" | "tags";

/** An open store, and the controls over it. The last calls are optional: without one, its scenarios are skipped. */
export interface OpenStore {
  readonly store: SegmentStore;
  /** Makes the counter of a tag with its first number, unless there is one. Resolves to whether it made it. */
  init(tag: string, first: bigint): Promise<boolean>;
  /** Abilities that the store lacks: their scenarios are skipped. Default: none. */
  readonly lacks?: readonly Inability[];
  /** Another client of the same store, as in another process. Default: `store`. */
  connect?(): Promise<SegmentStore>;
  close?(): Promise<void>;
  /** Gives the store another incarnation and keeps all counters, like a failover that lost nothing. */
  changeIncarnation?(): Promise<void>;
  /** Reads the record of a tag. Resolves to a call that puts it back, like a failover that lost later writes. */
  saveRecord?(tag: string): Promise<() => Promise<void>>;
}

/** The most numbers in a range if the store decides, unless a scenario says otherwise. */
const MOST = 1_000_000;
/** The length of a skip, unless a scenario says otherwise. @internal */
export const SKIP = 1000;

/** The numbers of an allocation. `end`: the start of the next range, if no one else allocates. @internal */
export interface Range {
  readonly first: bigint;
  readonly count: number;
  readonly end: bigint;
  readonly step: number | undefined;
}

/** The range in an answer. Every part of it must be there. */
function rangeIn({ attempt, first, count, stride = 1, step }: Allocation, request: AllocateRequest): Range {
  assert.equal(attempt, request.attempt, "the answer is to another attempt");
  assert.equal(typeof first, "bigint", `first is ${first}`);
  assert.ok(first >= 0n && Number.isSafeInteger(count) && count >= 1, `first is ${first}, count is ${count}`);
  assert.ok(Number.isSafeInteger(stride) && stride >= 1, `stride is ${stride}`);
  assert.ok(first >= request.above, `the range begins at ${first}, below ${request.above}`);
  if (request.count !== undefined) assert.equal(count, request.count, "not as many numbers as were asked for");
  return { first, count, end: first + BigInt(count) * BigInt(stride), step };
}

/** A process that allocates: it knows the end of all its ranges. @internal */
export class Process {
  readonly counter: Counter;
  readonly store: SegmentStore;
  readonly holder = draw();
  above = 0n;

  constructor(counter: Counter, store: SegmentStore) {
    this.counter = counter;
    this.store = store;
  }

  /** Allocates ten numbers by default. */
  async allocate(given: Partial<AllocateRequest> = {}): Promise<Range> {
    const { holder, above } = this;
    const usual = {
      tag: this.counter.tag,
      count: 10,
      maxCount: MOST,
      above,
      failoverSkip: SKIP,
      holder,
      attempt: draw(),
    };
    const request = { ...usual, ...given };
    const range = rangeIn(await this.store.allocate(request), request);
    if (range.end > this.above) this.above = range.end;
    return range;
  }
}

/** The counter of a scenario's own tag. @internal */
export class Counter {
  readonly open: OpenStore;
  readonly tag: string;

  constructor(open: OpenStore, tag: string) {
    this.open = open;
    this.tag = tag;
  }

  process(store = this.open.store): Process {
    return new Process(this, store);
  }

  /** `count` processes, each with its own client if the store has more. */
  async processes(count: number): Promise<Process[]> {
    const made = Array.from({ length: count }, async () => this.process(await this.open.connect?.()));
    return Promise.all(made);
  }

  /** Fails unless the next range begins there. */
  async isAt(next: bigint, why: string): Promise<void> {
    assert.equal((await this.process().allocate({ count: 1 })).first, next, why);
  }

  /** Fails unless the next range begins a skip of `SKIP` numbers above. */
  async isAbove(end: bigint, why: string): Promise<void> {
    assertSkipped(end, (await this.process().allocate({ count: 1 })).first, SKIP, why);
  }
}

/** The tools of a scenario. */
export class Bench {
  readonly open: OpenStore;
  constructor(open: OpenStore) {
    this.open = open;
  }

  /** An unused tag. @internal */
  newTag(): string {
    return `contract-${draw().slice(0, 12)}`;
  }

  /** A new counter. @internal */
  async counter(first = 1n, tag = this.newTag()): Promise<Counter> {
    assert.equal(await this.open.init(tag, first), true, `the counter of ${JSON.stringify(tag)} was there already`);
    return new Counter(this.open, tag);
  }
}

/** One scenario of the contract. */
export interface Scenario {
  readonly name: string;
  /** Required abilities of the store. Without them the scenario is skipped. */
  readonly needs?: readonly (Inability | keyof Pick<OpenStore, "changeIncarnation" | "saveRecord">)[];
  /** Whether it runs alone, because it changes something that all counters share, or keeps the store busy. */
  readonly alone?: boolean;
  run(bench: Bench): Promise<void>;
}

/** Fails unless `first` is at least `failoverSkip` numbers above `end`, and less than twice as many. @internal */
export function assertSkipped(end: bigint, first: bigint, failoverSkip: number, why: string): void {
  const skipped = first - end;
  const isEnough = skipped >= BigInt(failoverSkip) && skipped < BigInt(2 * failoverSkip);
  assert.ok(isEnough, `${why}: ${skipped} numbers are left out, not ${failoverSkip} to ${2 * failoverSkip - 1}`);
}

/** Fails if two ranges share a number, or if there is a gap between them. @internal */
export function assertWhole(ranges: readonly Range[], first: bigint): void {
  let end = first;
  for (const range of [...ranges].sort((a, b) => (a.first < b.first ? -1 : 1))) {
    assert.ok(range.first >= end, `the numbers from ${range.first} on were allocated twice, up to ${end - 1n}`);
    assert.ok(range.first === end, `the numbers from ${end} to ${range.first - 1n} were lost`);
    end = range.end;
  }
}
