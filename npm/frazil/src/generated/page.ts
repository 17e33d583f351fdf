// Written by `cargo run -p xtask -- tables` from crates/core. Do not edit.

import * as rules from "./rules.js";
import { CLASSES, type ErrorCode } from "./errors.js";

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
export const SEQUENCE_START = 101;
export const HAS_KEY = 102;
export const KEY = 103;
export const LEAD_MS = 107;
export const WORST_LEAD_MS = 108;
export const STEPS_BACK = 109;
export const LARGEST_STEP_BACK_MS = 110;
export const SWITCHES = 111;
export const END_MS = 112;
export const REMAINING_MS = 113;
export const ENDS_SOON = 114;

/** How many floats the page starts with, and how many IDs follow them. */
export const NUMBERS = 128;
export const IDS = 4096;
/** The status that asks for the clock to be read once more. */
export const RECHECK = 255;
/** The status that asks for a key. */
export const KEYLESS = 254;
/** Copies of the package share their states where this is equal. */
export const ABI = 3434122293;

/** The kinds of fields by their numbers. */
export const KINDS = ["time", "node", "clock", "sequence"];

/** The starts of the sequence by their numbers. */
export const STARTS = ["zero", "random", "wrap"] as const;

/** The codes by their status numbers. */
export const STATUSES = /* @__PURE__ */ ` ${Object.values(CLASSES).join(" ")}`.split(" ") as ErrorCode[];

/** What the codes mean that the core refuses with and no rule explains. */
export const MEANINGS: { [code: string]: string } = {
  CLOSED: "The generator was closed.",
  CLOCK_BACKWARD: "The clock is behind the last tick issued, or behind the first tick this generator may use.",
  SEQUENCE_EXHAUSTED: "All sequence numbers that the clock and the allowed lead give are used.",
  CLOCK_BEFORE_EPOCH: "The clock shows a time before the epoch of the layout.",
  TIME_EXHAUSTED: "The time field of the layout has run out.",
  INVALID_CLOCK: "The clock returned something that is no finite number.",
};

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
  "text",
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
  rules.KNOWN_KIND,
  rules.KNOWN_LAYOUT,
  rules.KNOWN_KEY,
  rules.AN_OBJECT,
  rules.TRUE_OR_FALSE,
  rules.NODE_NONE,
  rules.NODE_NOT_NONE,
  rules.NODE_GIVEN,
  rules.PART_NAMES,
  rules.FIELD_MISSING,
  rules.FIELD_ABSENT,
  rules.FIELD_ABOVE,
  rules.FIELD_BELOW,
  rules.NOTHING_UNORDERED,
  rules.TICK_START,
  rules.TIME_RANGE,
  rules.ID_RANGE,
  rules.ID_TEXT,
  rules.ID_INPUT,
  rules.ID_ARRAY,
  rules.ID_COLUMN,
  rules.COUNT_REACH,
  rules.STATIC_LEAD,
  rules.NO_START_LEAD,
  rules.FINITE_CLOCK,
  rules.KNOWN_START,
  rules.FUNCTION,
  rules.A_SIGNAL,
  rules.ONE_START,
  rules.START_KEY,
  rules.NONE,
  rules.NONE,
  rules.NONE,
  rules.NONE,
  rules.NONE,
  rules.NONE,
  rules.NONE,
  rules.NONE,
  rules.NONE,
  rules.NONE,
  rules.NONE,
  rules.NONE,
];
