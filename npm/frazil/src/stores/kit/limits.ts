/** The limits of what requests have, which `lease()` checks before the first one and every store for each. */
import { configError, type ErrorCode } from "../../base/errors.js";
import { PackageRule } from "../../base/package-rules.js";

/** Whether a value is the name of a scope. `layout/index.ts` has the same rule for the parts of a node id. */
export const isScope = (value: unknown): value is string =>
  typeof value === "string" && /^[a-z][\w-]{0,31}$/i.test(value);

/** The longest label of a holder, in characters. */
export const MAX_OWNER_LENGTH = 200;

/** The largest node id: 32 bits of node fields. */
export const MAX_NODE = 2 ** 32 - 1;

/** The longest tag of a segment, in characters: that of Leaf's column. */
const MAX_TAG_LENGTH = 128;

/**
 * Checks a tag of a segment. Half of a surrogate pair has no UTF-8, so that all of them would be one counter, and Postgres stores no
 * U+0000.
 */
export function checkTag(code: ErrorCode, tag: unknown): asserts tag is string {
  if (typeof tag !== "string" || tag === "" || tag.length > MAX_TAG_LENGTH)
    throw configError(code, "tag", tag, PackageRule.SHORT_TEXT, undefined, MAX_TAG_LENGTH);
  if (/[\0\ud800-\udfff]/u.test(tag))
    throw configError(code, "tag", tag, "must have no U+0000 and no half of a surrogate pair");
}

/** Whether every character of a tag stands for itself: in a shell, and in a statement in every mode of a server. */
export const isPlainTag = (tag: string): boolean => /^[\w .@:#/+-]+$/.test(tag);

/** The longest window of a scope on Workers, where windows are long since nothing runs between requests. */
export const WORKERS_WINDOW_MAX_MS = 10 * 60_000;
