// Written by `cargo run -p xtask -- tables` from crates/core. Do not edit.

import { CLASSES, type ErrorCode } from "./errors.js";
import { Rule } from "./rules.js";

/** The slots of the frame. */
export enum Slot {
  COUNT = 1,
  VALID_FROM_MS = 2,
  VALID_UNTIL_MS = 3,
  FILL_FROM = 4,
  FILL_UNTIL = 5,
  RETRY_AFTER_MS = 8,
  SUBJECT = 9,
  RULE = 10,
  MIN = 11,
  MAX = 12,
  TEXT_BYTES = 13,
  EPOCH_MS = 16,
  TICK_MS = 17,
  UNSIGNED = 18,
  HAS_NODE = 19,
  NODE = 20,
  NODE_NONE = 21,
  START_MS = 22,
  PRIVATE = 23,
  UNSHARED = 24,
  HAS_MAX_LEAD_MS = 25,
  MAX_LEAD_MS = 26,
  HAS_MAX_WAIT_MS = 27,
  MAX_WAIT_MS = 28,
  HAS_MAX_ASYNC_WAIT_MS = 29,
  MAX_ASYNC_WAIT_MS = 30,
  SEQUENCE_START = 31,
  HAS_KEY = 32,
  KEY = 33,
  HANDLE = 37,
  MAX_BLOCK = 38,
  WAIT_MS = 39,
  FIELD_COUNT = 40,
  FIELDS = 41,
  PROCESS_FROM_MS = 111,
  PROCESS_UNTIL_MS = 112,
  LINE = 113,
  LEAD_MS = 128,
  WORST_LEAD_MS = 129,
  STEPS_BACK = 130,
  LARGEST_STEP_BACK_MS = 131,
  SWITCHES = 132,
  END_MS = 133,
  REMAINING_MS = 134,
  ENDS_SOON = 135,
  EXTENSIONS = 136,
  DIR_BYTES = 144,
  SCOPE_BYTES = 145,
  FILE_SYSTEM_BYTES = 146,
  HAS_START_WAIT_MS = 147,
  START_WAIT_MS = 148,
  CEILING_MS = 149,
  ATTACHED = 150,
  RAISES = 151,
  DISTRUSTED_MS = 152,
  PATH_BYTES = 153,
  LOCKED = 154,
  BLIND = 155,
  ACCEPT_UNPROVEN_PLATFORM = 156,
  WINDOW_MS = 176,
  BY_CALLS = 177,
  TIMEOUT_MS = 178,
  STORE_TIME = 179,
  DEFAULT_SCOPE = 180,
  MONOTONIC_MS = 181,
  WALL_MS = 182,
  GRANT = 183,
  NONCE = 187,
  RANDOM = 191,
  LEASE_NODE = 199,
  FROM_MS = 200,
  UNTIL_MS = 201,
  STORE_NOW_MS = 202,
  REQUEST = 203,
  BEHIND = 204,
  REASON = 205,
  FREE_IN_MS = 206,
  CHANGE = 207,
  HAS_RELEASE = 208,
  USABLE_MS = 209,
  HELD_FROM_MS = 210,
  HELD_UNTIL_MS = 211,
  FAILURES = 212,
  SKEW_MS = 213,
  STORE_OFFSET_MS = 214,
  NEXT_MS = 215,
  HELD_NODE = 216,
  RELEASED_UNTIL_MS = 217,
  RENEWING = 218,
  ASKED_NUMBER = 219,
  ASKED_MONOTONIC_MS = 220,
  ASKED_WALL_MS = 221,
  UNCOPIED = 222,
  SHOWN_MS = 223,
  HAS_STEP = 224,
  STEP = 225,
  MAX_STEP = 226,
  GROW_BELOW_MS = 227,
  SHRINK_ABOVE_MS = 228,
  WANT = 229,
  STRIDE = 230,
  RANGE_COUNT = 231,
  LEFT = 232,
  BUFFERS = 233,
  RANGES = 234,
  ALLOCATED = 235,
  FETCH_MS = 236,
  SHORT = 237,
  AHEAD = 238,
  RETRY_MS = 239,
  TRY_IN_MS = 240,
  REST_MS = 241,
  TAKEN = 242,
  HAS_ROW = 243,
  ROW_MARK = 244,
  ROW_UNTIL_MS = 245,
}

/** What is fixed about the frame. */
export enum Frame {
  /** How many floats it starts with. */
  NUMBERS = 256,
  /** How many IDs follow them. */
  IDS = 4096,
  /** Its size in bytes. */
  BYTES = 34816,
  /** The most IDs or numbers of a call. */
  MAX_COUNT = 1048576,
  /** The longest time that an option can say, in milliseconds. */
  MAX_WAIT_MS = 2147483647,
  /** The status that asks for the clock to be read once more. */
  RECHECK = 255,
  /** The status that asks for a key. */
  KEYLESS = 254,
  /** Copies of the package share their states where this is equal. */
  ABI = 1847982092,
}

/** The kinds of fields by their numbers. No two begin with one letter, and the table of layouts has only that. */
export const KINDS = ["time", "node", "clock", "sequence"] as const;

/** The starts of the sequence by their numbers. */
export const STARTS = ["zero", "random", "wrap"] as const;

/** All codes by their status numbers. */
export const STATUSES = /* @__PURE__ */ ` ${Object.values(CLASSES).join(" ")}`.split(" ") as ErrorCode[];

/** The first status of each class. */
export enum First {
  ConfigError = 1,
  ClockError = 15,
  LeaseError = 20,
  DecodeError = 28,
}

/** The codes that the core answers with, by status. */
export const CODES: { readonly [status: number]: ErrorCode } = {
  1: "INVALID_LAYOUT",
  2: "INVALID_NODE",
  3: "NODE_REQUIRED",
  4: "INVALID_OPTION",
  5: "INVALID_ARGUMENT",
  6: "STATE_CONFLICT",
  14: "CLOSED",
  15: "CLOCK_BACKWARD",
  16: "SEQUENCE_EXHAUSTED",
  17: "CLOCK_BEFORE_EPOCH",
  18: "TIME_EXHAUSTED",
  19: "INVALID_CLOCK",
  20: "LEASE_EXPIRED",
  21: "LEASE_LOST",
};

/** Those that pass although the caller changes nothing. */
export const RETRYABLE = [15, 16, 20, 21];

/** What those mean that no rule explains. */
export const MEANINGS: { readonly [status: number]: string } = {
  14: "the generator was closed",
  15: "the clock is behind the last tick issued, or behind the first tick this generator may use",
  16: "all sequence numbers that the clock and the allowed lead give are used",
  17: "the clock shows a time before the epoch of the layout",
  18: "the time field of the layout has run out",
  20: "the granted window is over and has not been renewed yet",
  21: "no lease is held: the last one ended, and another one is asked for",
};

/** The rules that it answers with, by number. */
export const RULES: { readonly [rule: number]: Rule } = {
  1: Rule.WHOLE_NUMBER,
  2: Rule.ONE_TIME,
  3: Rule.ONE_SEQUENCE,
  4: Rule.ONE_CLOCK,
  5: Rule.NODE_WIDTH,
  6: Rule.WIDTH,
  7: Rule.LAST_TICK,
  12: Rule.NODE_NONE,
  13: Rule.NODE_NOT_NONE,
  51: Rule.NODE_GIVEN,
  52: Rule.COUNT_REACH,
  24: Rule.STATIC_LEAD,
  25: Rule.NO_START_LEAD,
  26: Rule.FINITE_CLOCK,
  53: Rule.KNOWN_START,
  27: Rule.ONE_START,
  37: Rule.ONE_KIND,
  42: Rule.EPOCH_MOVES,
  49: Rule.NOT_SECONDS,
};

/** What the answers are about, by number. */
export const SUBJECTS: { readonly [subject: number]: string } = {
  1: "node",
  2: "epochMs",
  3: "tickMs",
  4: "fields",
  5: "bits",
  8: "maxLeadMs",
  9: "maxWaitMs",
  10: "maxAsyncWaitMs",
  11: "now",
  12: "count",
  17: "sequenceStart",
};
