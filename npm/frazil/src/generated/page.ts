// Written by `cargo run -p xtask -- tables` from crates/core. Do not edit.

import * as rules from "./rules.js";
import type { ErrorCode } from "./errors.js";

export const STATUS = 0;
export const COUNT = 1;
export const VALID_FROM_MS = 2;
export const VALID_UNTIL_MS = 3;
export const RETRY_AFTER_MS = 4;
export const SUBJECT = 5;
export const RULE = 6;
export const MIN = 7;
export const MAX = 8;
export const HANDLE = 9;
export const MAX_BLOCK = 10;
export const EPOCH_MS = 16;
export const TICK_MS = 17;
export const UNSIGNED = 18;
export const HAS_NODE = 19;
export const NODE = 20;
export const START_MS = 21;
export const PRIVATE = 22;
export const HAS_MAX_LEAD_MS = 23;
export const MAX_LEAD_MS = 24;
export const HAS_MAX_WAIT_MS = 25;
export const MAX_WAIT_MS = 26;
export const HAS_MAX_ASYNC_WAIT_MS = 27;
export const MAX_ASYNC_WAIT_MS = 28;
export const NODE_NONE = 29;
export const FIELD_COUNT = 30;
export const FIELDS = 31;

/** How many floats the page starts with, and how many IDs follow them. */
export const NUMBERS = 128;
export const IDS = 4096;
/** The status that asks for the clock to be read once more. */
export const RECHECK = 255;
/** Copies of the package share their states where this is equal. */
export const ABI = 1;

/** The kinds of fields by their numbers. */
export const KINDS = ["time", "node", "clock", "sequence"];

/** The codes by their status numbers. */
export const STATUSES: (ErrorCode | undefined)[] = [
  undefined,
  "INVALID_LAYOUT",
  "INVALID_NODE",
  "NODE_REQUIRED",
  "INVALID_OPTION",
  "INVALID_ARGUMENT",
  "STATE_CONFLICT",
  "NATIVE_REQUIRED",
  "WASM_UNAVAILABLE",
  "UNSUPPORTED_FILE_SYSTEM",
  "STATE_FILE_CORRUPT",
  "STATE_FILE_AHEAD",
  "STATE_FILE_FAILED",
  "CLOSED",
  "CLOCK_BACKWARD",
  "SEQUENCE_EXHAUSTED",
  "CLOCK_BEFORE_EPOCH",
  "TIME_EXHAUSTED",
  "INVALID_CLOCK",
  "LEASE_EXPIRED",
  "LEASE_LOST",
  "NODE_IDS_EXHAUSTED",
  "STORE_UNAVAILABLE",
  "SEGMENT_EXHAUSTED",
  "STORE_NOT_INITIALISED",
  "LAYOUT_MISMATCH",
  "STORE_REFUSED",
  "INVALID_ID",
  "INVALID_TEXT",
  "TIME_OUT_OF_RANGE",
  "NOT_TIME_ORDERED",
];

/** What the codes mean, by number. */
export const MEANINGS = [
  "",
  "The layout breaks a rule: a width, a field or a time that does not add up.",
  "The node id is not one that the layout can hold.",
  "No node id was given, and there is no default: two machines on one node id repeat each other's IDs.",
  "An option is unknown, or its value is not allowed.",
  "An argument of a call is not allowed.",
  "The state is in use with other settings, or by another copy of the package that cannot share it.",
  "The call needs the native addon, because WebAssembly cannot share a state between threads or processes.",
  "WebAssembly is forbidden or missing here, so nothing can be minted; layouts and decoding still work.",
  "The file system cannot keep the promise of a state file.",
  "The state file is damaged, truncated, a copy, or of another layout.",
  "The state file has reserved time far ahead of the clock.",
  "Writing the state file failed, and minting stopped for good.",
  "The generator was closed.",
  "The clock is behind the last tick issued, or behind the first tick this generator may use.",
  "All sequence numbers that the clock and the allowed lead give are used.",
  "The clock shows a time before the epoch of the layout.",
  "The time field of the layout has run out.",
  "The clock returned something that is no finite number.",
  "The granted window is over and has not been renewed yet.",
  "Another holder has the node id now.",
  "Every node id of the scope is held.",
  "The store did not answer.",
  "Both ranges of the segment are used and the next is not there yet.",
  "The store has no record of the scope, and an empty store looks the same as a lost one.",
  "The scope in the store belongs to another layout.",
  "The store is set up so that it cannot keep the promise.",
  "The value is not an ID, or not one that the layout can have issued.",
  "The text is not in the expected form.",
  "The time lies outside what the time field can hold.",
  "IDs of this layout are not ordered by time alone, so a range of times is no range of IDs.",
];

/** What an error can be about, by number. */
export const SUBJECTS = [
  "",
  "node",
  "epochMs",
  "tickMs",
  "fields",
  "bits",
  "name",
  "layout",
  "maxLeadMs",
  "maxWaitMs",
  "maxAsyncWaitMs",
  "now",
  "count",
  "id",
  "timestampMs",
  "clock",
  "sequence",
  "sequenceStart",
  "generator",
];

/** The rules by number. */
export const RULES = [
  rules.NONE,
  rules.WHOLE_NUMBER,
  rules.ONE_TIME,
  rules.ONE_SEQUENCE,
  rules.ONE_CLOCK,
  rules.NODE_WIDTH,
  rules.WIDTH,
  rules.LAST_TICK,
  rules.DISTINCT_NAMES,
  rules.NAME_SYNTAX,
  rules.NAME_ONLY_NODE,
  rules.KNOWN_LAYOUT,
  rules.NODE_NONE,
  rules.NODE_NOT_NONE,
  rules.STATIC_LEAD,
  rules.NO_START_LEAD,
  rules.FINITE_CLOCK,
  rules.ID_RANGE,
  rules.ID_TEXT,
  rules.TIME_RANGE,
  rules.TICK_START,
  rules.FIELD_MISSING,
  rules.FIELD_ABSENT,
  rules.FIELD_ABOVE,
  rules.NOTHING_UNORDERED,
  rules.SEQUENCE_ZERO,
  rules.COUNT_REACH,
  rules.SEQUENCE_WIDTH,
  rules.CLOCK_WIDTH,
  rules.FIELD_BELOW,
  rules.PART_NAMES,
  rules.NODE_GIVEN,
  rules.ID_INPUT,
  rules.TRUE_OR_FALSE,
  rules.FUNCTION,
  rules.KNOWN_KEY,
  rules.AN_OBJECT,
  rules.ID_ARRAY,
  rules.ID_COLUMN,
  rules.KNOWN_KIND,
  rules.A_SIGNAL,
];
