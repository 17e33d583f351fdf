/**
 * A store of segments on anything that can replace the record of a tag on condition that it is unchanged: it reads, decides by `rules.ts`,
 * and writes.
 */
import { monotonicClock } from "../../../base/clock.js";
import { LeaseError } from "../../../base/errors.js";
import type { AllocateRequest, Allocation, TagOptions } from "../../segment-store.js";
import { type NamedStore, onceFor, storeUnavailable } from "../errors.js";
import { MAX_ALLOCATE_TRIES, sleepAfterRace } from "../races.js";
import { withinLimit } from "../set-up-limit.js";
import { inTurn } from "./concurrency-limit.js";
import { checkAllocate, newTagOf } from "./requests.js";
import { decideAllocate, type KeptRecord, keptRecord, type RecordPlace, tagRecordOf } from "./rules.js";

/** The record of a tag as it was read, and the incarnation of the store at that moment. */
export interface TagView {
  readonly kept: KeptRecord;
  readonly incarnation: string;
  /** Where it is, for errors, if not in the table of a database. */
  readonly place?: RecordPlace;
}

/** Where the records are. */
export interface TagTable {
  /** Reads committed data. `undefined`: there is no record, or nothing to keep one in. */
  readTag(tag: string, signal: AbortSignal | undefined): Promise<TagView | undefined>;
  /**
   * Replaces the record, if it is as it was read and the store still has the incarnation of the new one: both in one atomic operation.
   * After a failover between reading and writing another incarnation would allocate what the old server had allocated. On disk before it
   * resolves to `true`. Else it resolves to the record that is there, or to `undefined` if that must be read.
   */
  replaceTag(
    tag: string,
    seen: KeptRecord,
    written: KeptRecord,
    signal: AbortSignal | undefined,
  ): Promise<true | TagView | undefined>;
  /** Writes a record without recent allocations, unless there is one. `undefined`: there is nothing to keep one in. */
  makeTag(tag: string, first: bigint, signal: AbortSignal): Promise<boolean | undefined>;
  /** Where it looks for records, in words for errors. */
  placeOfTags(signal: AbortSignal | undefined, tag: string): string | Promise<string>;
}

/** After this many tries that found the record unchanged, the cause is not a conflict. */
const UNCHANGED_TRIES = 8;
/** How long to pause at most after allocations that others won. */
const LONGEST_PAUSE_MS = 1000;

/**
 * Allocates from a table: reads, decides, and writes. On conflict, it decides by the record that the write has found, once, since that is
 * as new as can be. Then it pauses, for longer each time, and longer where the store answers slowly, so that many processes that begin at
 * once do not keep it busy.
 */
export async function allocateFrom(store: NamedStore, table: TagTable, request: AllocateRequest): Promise<Allocation> {
  checkAllocate(request);
  return inTurn(store, request.signal, () => allocateAtOnce(store, table, request));
}

/** The same at once, and not when others have ended: in a Worker that may be calls of other requests, for which none may wait. */
export async function allocateAtOnce(
  store: NamedStore,
  table: TagTable,
  request: AllocateRequest,
): Promise<Allocation> {
  checkAllocate(request);
  const { tag, signal } = request;
  const seen = new Set<string>();
  let found: TagView | undefined;
  for (let tries = 1; tries <= MAX_ALLOCATE_TRIES; tries++) {
    signal?.throwIfAborted();
    const startedMs = monotonicClock();
    const view: TagView | undefined = found ?? (await table.readTag(tag, signal));
    if (view === undefined) throw tagMissing(store, tag, await table.placeOfTags(signal, tag), request.above);
    const { kept, incarnation, place } = view;
    seen.add(JSON.stringify([...kept, incarnation]));
    const { allocation, record } = decideAllocate(tagRecordOf(tag, kept, place), request, incarnation);
    const outcome = await table.replaceTag(tag, kept, keptRecord(record), signal);
    if (outcome === true) return allocation;
    if (tries >= UNCHANGED_TRIES && seen.size === 1) {
      const said = `the record of the tag ${JSON.stringify(tag)} was not replaced, ${tries} times, although no one changed it`;
      throw storeUnavailable(`${said}\nIt may be locked, or a trigger or rule may keep it as it is.`);
    }
    found = found === undefined ? outcome : undefined;
    const firstMs = Math.max(1, monotonicClock() - startedMs);
    if (found === undefined) await sleepAfterRace(tries, signal, { firstMs, longestMs: LONGEST_PAUSE_MS });
  }
  throw storeUnavailable(`others allocated from the tag ${JSON.stringify(tag)} first, ${MAX_ALLOCATE_TRIES} times`);
}

/** Makes the record of a tag, unless there is one. Resolves to whether it made it. */
export async function makeTagIn(store: NamedStore, table: TagTable, options: TagOptions): Promise<boolean> {
  const { tag, first } = newTagOf(options);
  return withinLimit(store, "initSegment()", async (signal) => {
    const made = await table.makeTag(tag, first, signal);
    if (made === undefined) throw tagMissing(store, tag, await table.placeOfTags(signal, tag), 0n);
    return made;
  });
}

/**
 * `STORE_NOT_INITIALISED` for a tag. `above`: the end of the numbers that the process has had. A process that has had some knows that
 * the tag is not new.
 */
export function tagMissing(store: NamedStore, tag: string, place: string, above: bigint): LeaseError {
  const name = JSON.stringify(tag);
  const missing = `the ${store.name} store has no record of the tag ${name} in ${place}\n`;
  const remedy =
    above > 0n
      ? `It is not new: this process has had numbers up to ${above - 1n}, so its record was deleted, or is in another place. Restore it. ` +
        `If it is lost, find the largest number in use, and run once: await store.initSegment({ tag: ${name}, first: <above it> }).`
      : "Check that this is the place of the other programs: a second record gives out the same numbers. If the tag is new, " +
        `${onceFor(store, `initSegment({ tag: ${name} })`, `--tag ${tag}`)}. If ` +
        "the store has lost the record, pass as first a number above every number that was handed out.";
  return new LeaseError("STORE_NOT_INITIALISED", missing + remedy, { field: "tag", value: tag });
}
