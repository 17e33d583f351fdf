// Written by `cargo run -p xtask -- tables` from crates/core. Do not edit.

import type { ErrorCode } from "./errors.js";
import { Rule } from "./rules.js";

/** What the call does. */
export enum SegmentCall {
  OPEN = 0,
  DRAW = 1,
  ASK = 2,
  TAKE = 3,
  FAIL = 4,
  STATUS = 5,
  WRITE = 6,
  ASK_AGAIN = 7,
  REFUSE = 8,
}

/** What to request of the store. */
export enum SegmentRequest {
  NOTHING = 0,
  WAIT = 1,
  ALLOCATE = 2,
}

/** The codes that the core answers with, by status. */
export const CODES: { readonly [status: number]: ErrorCode } = {
  27: "STORE_REFUSED",
};

/** Those that pass although the caller changes nothing. */
export const RETRYABLE = [];

/** What those mean that no rule explains. */
export const MEANINGS: { readonly [status: number]: string } = {
};

/** The rules that it answers with, by number. */
export const RULES: { readonly [rule: number]: Rule } = {
  40: Rule.SEGMENT_RANGE,
  41: Rule.SEGMENT_ABOVE,
};

/** What the answers are about, by number. */
export const SUBJECTS: { readonly [subject: number]: string } = {
  26: "segment",
  27: "step",
  28: "maxStep",
  29: "growBelowMs",
  30: "shrinkAboveMs",
};
