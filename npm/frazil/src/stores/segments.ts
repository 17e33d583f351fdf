/** What all stores of segments share: checks of requests, the loop around a lost race, and errors. */
import { configError, LeaseError } from "../errors.js";
import { Rule } from "../generated/rules.js";
import { MAX_ATTEMPTS, pause, storeUnavailable } from "./answers.js";
import { checkGiven } from "./given.js";
import { MAX_TAG_LENGTH } from "./limits.js";
import { hex } from "./requests.js";
import { decideAllocate, MAX_NUMBER, type TagRecord } from "./segment-rules.js";
import type { AllocateRequest, Allocation, TagOptions } from "./segment-store.js";

/** Tags whose records a command line prints. */
export interface Tags {
  readonly tags: readonly string[];
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
   * operation. On disk before it resolves to `true`.
   */
  replaceTag(tag: string, seen: TagRecord, record: TagRecord, signal: AbortSignal | undefined): Promise<boolean>;
  /** Writes a record without recent allocations, unless there is one. `undefined`: there is nothing to keep one in. */
  makeTag(tag: string, first: bigint): Promise<boolean | undefined>;
  /** Where it looks for records, in words for errors. */
  placeOfTags(signal: AbortSignal | undefined): string | Promise<string>;
}

const PRINTABLE_RULE =
  "must have only letters, digits, blanks and _ . @ : # / + - to be printed: make another one by store.initSegment()";

const isTag = (tag: unknown): tag is string => typeof tag === "string" && tag !== "" && tag.length <= MAX_TAG_LENGTH;

/** @throws {ConfigError} `INVALID_ARGUMENT` */
export function checkAllocate(request: AllocateRequest): void {
  const { tag, count, maxCount, above, failoverSkip, holder, attempt } = request;
  const invalid = (field: string, value: unknown, rule: string, min?: number, max?: number) =>
    configError("INVALID_ARGUMENT", field, value, rule, min, max);
  const isWhole = (value: unknown, min: number): value is number =>
    Number.isSafeInteger(value) && (value as number) >= min;
  if (!isTag(tag)) throw invalid("tag", tag, Rule.TAG_TEXT, undefined, MAX_TAG_LENGTH);
  if (count !== undefined && !isWhole(count, 1))
    throw invalid("count", count, Rule.WHOLE_NUMBER, 1, Number.MAX_SAFE_INTEGER);
  if (!isWhole(maxCount, 1)) throw invalid("maxCount", maxCount, Rule.WHOLE_NUMBER, 1, Number.MAX_SAFE_INTEGER);
  if (!isWhole(failoverSkip, 0))
    throw invalid("failoverSkip", failoverSkip, Rule.WHOLE_NUMBER, 0, Number.MAX_SAFE_INTEGER);
  if (typeof above !== "bigint" || above < 0n) throw invalid("above", above, "must be a bigint that is not negative");
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
  if (number < 0n || number > MAX_NUMBER)
    throw configError("INVALID_OPTION", "first", first, Rule.WHOLE_NUMBER, 0, `${MAX_NUMBER}` as never);
  return { tag, first: number };
}

/**
 * A tag in a command for people to run, where every character stands for itself.
 *
 * @throws {ConfigError} `INVALID_OPTION`
 */
export function printableTag(tag: string): string {
  newTagOf({ tag });
  if (!/^[\w .@:#/+-]+$/.test(tag)) throw configError("INVALID_OPTION", "tag", tag, PRINTABLE_RULE);
  return tag;
}

/** Allocates from a table: reads, decides, and writes; whoever finds that somebody else was faster reads again. */
export async function allocateFrom(
  store: { readonly name: string },
  table: TagTable,
  request: AllocateRequest,
): Promise<Allocation> {
  checkAllocate(request);
  const { tag, signal } = request;
  for (let attempt = 1; attempt <= 3 * MAX_ATTEMPTS; attempt++) {
    signal?.throwIfAborted();
    const view = await table.readTag(tag, signal);
    if (view === undefined) throw tagMissing(store, tag, await table.placeOfTags(signal));
    const { allocation, record } = decideAllocate(view.record, request, view.incarnation);
    if (await table.replaceTag(tag, view.record, record, signal)) return allocation;
    await pause(attempt, signal);
  }
  throw storeUnavailable(`others allocated from the tag ${JSON.stringify(tag)} first, ${3 * MAX_ATTEMPTS} times`);
}

/** Makes the record of a tag, unless there is one. Resolves to whether it made it. */
export async function makeTagIn(
  store: { readonly name: string },
  table: TagTable,
  options: TagOptions,
): Promise<boolean> {
  const { tag, first } = newTagOf(options);
  const made = await table.makeTag(tag, first);
  if (made === undefined) throw tagMissing(store, tag, await table.placeOfTags(undefined));
  return made;
}

/** `STORE_NOT_INITIALISED` for a tag. */
export const tagMissing = (store: { readonly name: string }, tag: string, place: string): LeaseError =>
  new LeaseError(
    "STORE_NOT_INITIALISED",
    `the ${store.name} store has no record of the tag ${JSON.stringify(tag)}. It looked in ${place}. Check that this is the place of ` +
      "the other programs: a second record gives out the same numbers. If the tag is new, run once, from a migration or a shell: " +
      `${"migrate" in store ? "await store.migrate(); " : ""}await store.initSegment({ tag: ${JSON.stringify(tag)} }). If the store ` +
      "has lost the record, pass as first a number above every number that was handed out",
    { field: "tag", value: tag },
  );
