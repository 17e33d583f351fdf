/** The arguments of the operations of a store of segments, checked before the store is asked. */
import { configError, whole } from "../../../base/errors.js";
import { Rule } from "../../../generated/rules.js";
import type { AllocateRequest, TagOptions } from "../../segment-store.js";
import { checkGiven } from "../argument-errors.js";
import { checkRequest, hex } from "../lease/requests.js";
import { checkTag, isPlainTag } from "../limits.js";
import { MAX_COUNTER } from "./rules.js";

/** Tags whose records a command line prints. */
export interface DdlTags {
  readonly tags: readonly string[];
  /** The first number of each. Default: 1. */
  readonly first?: bigint;
}

/** The tags and their first number, checked, as they are put into a command. @throws {ConfigError} `INVALID_OPTION` */
export function printedTags({ tags, first = 1n }: DdlTags): { tags: readonly string[]; first: string } {
  for (const tag of tags) newTagOf({ tag, first });
  return { tags: tags.map(printableTag), first: `${first}` };
}

const PRINTABLE_RULE =
  "must have only letters, digits, spaces and _ . @ : # / + - to be printed\nMake another one by store.initSegment().";

/** @throws {ConfigError} `INVALID_ARGUMENT` */
export function checkAllocate(request: AllocateRequest): void {
  checkRequest(request);
  const { tag, count, maxCount, above, failoverSkip, holder, attempt } = request;
  checkTag("INVALID_ARGUMENT", tag);
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
  checkTag("INVALID_OPTION", tag);
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
