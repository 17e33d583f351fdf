/**
 * What a store of segments decides: which range a process gets. Pure: the stores read the record, and write what is decided here on
 * condition that it is unchanged.
 */

import { saidOf } from "../../../base/errors.js";
import type { AllocateRequest, Allocation } from "../../segment-store.js";
import { isWholeColumn } from "../answer-rows.js";
import { storeRefused } from "../errors.js";

/** The last allocation of a process, so that its retry is answered with the same range. */
export interface RecentAllocation {
  readonly holder: string;
  readonly attempt: string;
  readonly first: bigint;
  readonly count: number;
}

/** The record of a tag. */
export interface TagRecord {
  /** Numbers below are allocated. */
  readonly next: bigint;
  /** The store that wrote the record. */
  readonly incarnation: string;
  /** The newest first, one for each process. */
  readonly recent: readonly RecentAllocation[];
}

/**
 * The record of a tag as a store keeps it: `next`, `incarnation` and `recent`. A replacement compares these as they were read, and not
 * what they mean: one that a person has written, such as `0005`, would never be equal to it.
 */
export type KeptRecord = readonly [next: string, incarnation: string, recent: string];

/** The default size of a range. */
const DEFAULT_STEP = 1000;
/** The step of a store that has none for the tag. @internal */
export const stepWithin = ({ maxCount }: AllocateRequest): number => Math.min(DEFAULT_STEP, maxCount);
/** The largest value of a counter, which is above every number. */
export const MAX_COUNTER = 2n ** 63n - 1n;
/** How many processes a record remembers: more of them than lose an answer before they ask again. */
const REMEMBERED = 32;

/**
 * How many numbers a request skips: `failoverSkip`, and below as many again by the first 32 bits of its attempt. Two servers may lack each
 * other's record, and skip from the same number (a second failover before the first record is on the next server, a backup that is restored
 * twice): skips of one length would give out the same range twice.
 */
const skipOf = ({ failoverSkip, attempt }: AllocateRequest): bigint =>
  BigInt(failoverSkip) + ((BigInt(failoverSkip) * BigInt(`0x${attempt.slice(0, 8)}`)) >> 32n);

/** What to answer, and the record to write before. */
export interface AllocateDecision {
  readonly allocation: Allocation;
  readonly record: TagRecord;
}

/**
 * Invariant: a range begins at or above the end of every range that was allocated, as far as the record, the process that asks and
 * `failoverSkip` can tell: of a record that was lost, the counter was at most `failoverSkip` higher, skips included. `incarnation` is the
 * store's when the record is written.
 *
 * A retry gets the range of its first try, also if the store is another one since: the record has it, so it was not lost. The
 * record is written nevertheless: some databases show a commit before it is on disk, and an answer must not be lost after it was
 * given.
 */
export function decideAllocate(record: TagRecord, request: AllocateRequest, incarnation: string): AllocateDecision {
  const { tag, above, holder, attempt } = request;
  const step = stepWithin(request);
  const { count = step } = request;
  const hasLost = record.incarnation !== incarnation || above > record.next;
  const highest = above > record.next ? above : record.next;
  const start = hasLost ? highest + skipOf(request) : highest;
  const known = record.recent.find((recent) => recent.holder === holder && recent.attempt === attempt);
  const isKnown = known !== undefined && known.first >= above;
  const range = isKnown ? known : { holder, attempt, first: start, count };
  const next = isKnown ? start : start + BigInt(count);
  if (next > MAX_COUNTER)
    throw storeRefused(`the numbers of the tag ${JSON.stringify(tag)} are used up, and the next would exceed 2^63 - 2`);
  const others = record.recent.filter((recent) => recent.holder !== holder).slice(0, REMEMBERED - 1);
  return {
    // With a stride, so that none is read from `Object.prototype`.
    allocation: { attempt, first: range.first, count: range.count, stride: 1, step },
    record: { next, incarnation, recent: [range, ...others] },
  };
}

/** A record as it is kept. The recent allocations are JSON that people can read, in ASCII. */
export const keptRecord = ({ next, incarnation, recent }: TagRecord): KeptRecord => [
  `${next}`,
  incarnation,
  JSON.stringify(recent.map(({ holder, attempt, first, count }) => [holder, attempt, `${first}`, count])),
];

/** Where a record is, for errors: its place, and what its counter is called there. */
export interface RecordPlace {
  readonly place: string;
  readonly counter: string;
}

const IN_TABLE: RecordPlace = { place: "the table frazil_segments", counter: "next_number" };

/** The record that is kept so. @throws {LeaseError} `STORE_REFUSED` if it was changed by hand. */
export function tagRecordOf(
  tag: string,
  [next, incarnation, recent]: KeptRecord,
  { place, counter }: RecordPlace = IN_TABLE,
): TagRecord {
  const refused = (field: string, value: unknown, rule: string) =>
    storeRefused(
      saidOf(
        `${field} of the tag ${JSON.stringify(tag)} in ${place}`,
        `must be ${rule}`,
        JSON.stringify(String(value).slice(0, 80)),
      ),
    );
  if (!isWholeColumn(next))
    throw refused(
      counter,
      next,
      "an integer\nIt was changed by hand. Set it to a number above every number that was handed out.",
    );
  const list = listIn(recent);
  if (list === undefined)
    throw refused(
      "recent",
      recent,
      "a list of [process, attempt, first number, count]\nIt was changed by hand. Set it to [].",
    );
  const record = {
    next: BigInt(next),
    incarnation,
    recent: list.map(([holder, attempt, first, count]) => ({ holder, attempt, first: BigInt(first), count })),
  };
  // Also where a trigger puts the counter back: a range of the record would be allocated again.
  const lost = record.recent.find(({ first, count }) => first + BigInt(count) > record.next);
  if (lost)
    throw refused(
      counter,
      next,
      `${lost.first + BigInt(lost.count)} or more, since the numbers up to ${lost.first + BigInt(lost.count) - 1n} were allocated\n` +
        "It was changed by hand. Set it to a number above every number that was handed out, and look for what moves it down, such as a trigger.",
    );
  return record;
}

/** The recent allocations in the text of a column. `undefined` for another text. */
function listIn(text: unknown): [string, string, string, number][] | undefined {
  let list: unknown;
  try {
    list = JSON.parse(String(text));
  } catch {
    return undefined;
  }
  const isEntry = (entry: unknown) =>
    Array.isArray(entry) && entry.length === 4 && isWholeColumn(entry[2]) && Number.isSafeInteger(entry[3]);
  return Array.isArray(list) && list.every(isEntry) ? list : undefined;
}
