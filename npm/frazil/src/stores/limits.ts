/** The limits of what requests have, which `lease()` checks before the first one and every store for each. */

/** Whether a value is the name of a scope. `layout.ts` has the same rule for the parts of a node id. */
export const isScope = (value: unknown): value is string =>
  typeof value === "string" && /^[a-z][\w-]{0,31}$/i.test(value);

/** The longest label of a holder, in characters. */
export const MAX_OWNER_LENGTH = 200;

/** The largest node id: 32 bits of node fields. */
export const MAX_NODE = 2 ** 32 - 1;

/** The longest tag of a segment, in characters: that of Leaf's column. */
export const MAX_TAG_LENGTH = 128;

/** Whether a value is a tag of a segment. */
export const isTag = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= MAX_TAG_LENGTH;

/** Whether every character of a tag stands for itself: in a shell, and in a statement in every mode of a server. */
export const isPlainTag = (tag: string): boolean => /^[\w .@:#/+-]+$/.test(tag);

/** The longest window of a scope on Workers, where windows are long since nothing runs between requests. */
export const WORKERS_WINDOW_MAX_MS = 10 * 60_000;
