/** What all stores of segments share: checks of requests, the loop around a lost race, and errors. */
import { configError, LeaseError, whole } from "../errors.js";
import { Rule } from "../generated/rules.js";
import { MAX_ALLOCATE_TRIES, pause, storeUnavailable } from "./answers.js";
import { checkGiven } from "./given.js";
import { isPlainTag, isTag, MAX_TAG_LENGTH } from "./limits.js";
import { hex } from "./requests.js";
import { decideAllocate, MAX_COUNTER, type TagRecord } from "./segment-rules.js";
import type { AllocateRequest, Allocation, TagOptions } from "./segment-store.js";
import { inTurn, withinLimit } from "./turns.js";

/** Tags whose records a command line prints. */
export interface DdlTags {
  readonly tags: readonly string[];
  /** The first number of each. Default: 1. */
  readonly first?: bigint;
}

/** The tags and their first number, checked, as they are put into a command. @throws {ConfigError} `INVALID_OPTION` */
export function drawnTags({ tags, first = 1n }: DdlTags): { tags: readonly string[]; first: string } {
  for (const tag of tags) newTagOf({ tag, first });
  return { tags: tags.map(printableTag), first: `${first}` };
}

/** The record of a tag as it was read, and the incarnation of the store at that moment. */
export interface TagView {
  readonly record: TagRecord;
  readonly incarnation: string;
}

/** Where the records are. */
export interface TagTable {
  /** Reads committed data. `undefined`: there is no record, or nothing to keep one in. */
  readTag(tag: string, signal: AbortSignal | undefined): Promise<TagView | undefined>;
  /**
   * Replaces the record, if it is as it was read and the incarnation of the store is still that of the new one: both in one atomic
   * operation. After a failover between reading and writing another incarnation would allocate what the old server had allocated. On
   * disk before it resolves to `true`.
   */
  replaceTag(tag: string, seen: TagRecord, record: TagRecord, signal: AbortSignal | undefined): Promise<boolean>;
  /** Writes a record without recent allocations, unless there is one. `undefined`: there is nothing to keep one in. */
  makeTag(tag: string, first: bigint, signal: AbortSignal): Promise<boolean | undefined>;
  /** Where it looks for records, in words for errors. */
  placeOfTags(signal: AbortSignal | undefined, tag: string): string | Promise<string>;
}

const PRINTABLE_RULE =
  "must have only letters, digits, blanks and _ . @ : # / + - to be printed: make another one by store.initSegment()";

/** @throws {ConfigError} `INVALID_ARGUMENT` */
export function checkAllocate(request: AllocateRequest): void {
  const { tag, count, maxCount, above, failoverSkip, holder, attempt } = request;
  if (!isTag(tag)) throw configError("INVALID_ARGUMENT", "tag", tag, Rule.TAG_TEXT, undefined, MAX_TAG_LENGTH);
  const check = (field: string, value: unknown, min: number) =>
    whole("INVALID_ARGUMENT", field, value, min, Number.MAX_SAFE_INTEGER);
  if (count !== undefined) check("count", count, 1);
  check("maxCount", maxCount, 1);
  check("failoverSkip", failoverSkip, 0);
  if (typeof above !== "bigint" || above < 0n)
    throw configError("INVALID_ARGUMENT", "above", above, "must be a bigint that is not negative");
  // Two attempts that are written alike would be answered with one range.
  hex("holder", holder);
  hex("attempt", attempt);
}

/** The tag and the first number of a new record. @throws {ConfigError} `INVALID_OPTION` */
export function newTagOf(options: TagOptions): { tag: string; first: bigint } {
  const { tag, first = 1 } = checkGiven(options, "tag, first") as { tag: unknown; first?: unknown };
  if (!isTag(tag)) throw configError("INVALID_OPTION", "tag", tag, Rule.TAG_TEXT, undefined, MAX_TAG_LENGTH);
  const isNumber = typeof first === "bigint" || Number.isSafeInteger(first);
  const number = isNumber ? BigInt(first as bigint | number) : -1n;
  if (number < 0n || number > MAX_COUNTER)
    throw configError("INVALID_OPTION", "first", first, Rule.WHOLE_NUMBER, 0, MAX_COUNTER);
  return { tag, first: number };
}

/**
 * A tag in a command for people to run, where every character stands for itself.
 *
 * @throws {ConfigError} `INVALID_OPTION`
 */
function printableTag(tag: string): string {
  newTagOf({ tag });
  if (!isPlainTag(tag)) throw configError("INVALID_OPTION", "tag", tag, PRINTABLE_RULE);
  return tag;
}

/** Allocates from a table: reads, decides, and writes; whoever finds that somebody else was faster reads again. */
export async function allocateFrom(
  store: { readonly name: string },
  table: TagTable,
  request: AllocateRequest,
): Promise<Allocation> {
  checkAllocate(request);
  return inTurn(store, request.signal, () => allocated(store, table, request));
}

async function allocated(
  store: { readonly name: string },
  table: TagTable,
  request: AllocateRequest,
): Promise<Allocation> {
  const { tag, signal } = request;
  for (let tries = 1; tries <= MAX_ALLOCATE_TRIES; tries++) {
    signal?.throwIfAborted();
    const view = await table.readTag(tag, signal);
    if (view === undefined) throw tagMissing(store, tag, await table.placeOfTags(signal, tag), request.above);
    const { allocation, record } = decideAllocate(view.record, request, view.incarnation);
    if (await table.replaceTag(tag, view.record, record, signal)) return allocation;
    await pause(tries, signal);
  }
  throw storeUnavailable(`others allocated from the tag ${JSON.stringify(tag)} first, ${MAX_ALLOCATE_TRIES} times`);
}

/** Makes the record of a tag, unless there is one. Resolves to whether it made it. */
export async function makeTagIn(
  store: { readonly name: string },
  table: TagTable,
  options: TagOptions,
): Promise<boolean> {
  const { tag, first } = newTagOf(options);
  return withinLimit(store, "initSegment()", async (signal) => {
    const made = await table.makeTag(tag, first, signal);
    if (made === undefined) throw tagMissing(store, tag, await table.placeOfTags(signal, tag), 0n);
    return made;
  });
}

/**
 * `STORE_NOT_INITIALISED` for a tag. `above`: the end of the numbers that the process has had. Who has had some knows that the tag is not
 * new.
 */
export function tagMissing(store: { readonly name: string }, tag: string, place: string, above: bigint): LeaseError {
  const name = JSON.stringify(tag);
  const missing = `the ${store.name} store has no record of the tag ${name}. It looked in ${place}. `;
  const remedy =
    above > 0n
      ? `It is not new: this process has had numbers up to ${above - 1n}, so its record was deleted, or is in another place. Restore it. ` +
        `If it is lost, find the largest number in use, and run once: await store.initSegment({ tag: ${name}, first: <above it> })`
      : "Check that this is the place of the other programs: a second record gives out the same numbers. If the tag is new, run once, " +
        `from a migration or a shell: ${"migrate" in store ? "await store.migrate(); " : ""}await store.initSegment({ tag: ${name} }). If ` +
        "the store has lost the record, pass as first a number above every number that was handed out";
  return new LeaseError("STORE_NOT_INITIALISED", missing + remedy, { field: "tag", value: tag });
}
