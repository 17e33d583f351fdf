// Written by `cargo run -p xtask -- tables` from crates/core. Do not edit.

import type { ErrorCode } from "./errors.js";
import { Rule } from "./rules.js";

/** What the call does. */
export enum LeaseCall {
  OPEN = 0,
  ASK = 1,
  TAKE = 2,
  REFUSE = 3,
  FENCED = 4,
  FAIL = 5,
  HURRY = 6,
  CLOSE = 7,
  STATUS = 8,
}

/** What the call for a ceiling does. */
export enum CeilingCall {
  OPEN = 0,
  LOOK = 1,
}

/** What to request of the store. */
export enum LeaseRequest {
  NOTHING = 0,
  WAIT = 1,
  ACQUIRE = 2,
  RENEW = 3,
  FENCE = 4,
}

/** What an answer changed. */
export enum LeaseChange {
  NONE = 0,
  BEGUN = 1,
  EXTENDED = 2,
  ENDED = 3,
  DECLINED = 4,
  DROPPED = 5,
}

/** Why the store granted nothing. */
export enum LeaseReason {
  TAKEN = 0,
  FENCED = 1,
  INCARNATION = 2,
  BEHIND = 3,
  EXHAUSTED = 4,
  MISSING = 5,
  OTHER = 6,
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
  50: Rule.WINDOW_LENGTH,
  39: Rule.LEASE_TIMES,
};

/** What the answers are about, by number. */
export const SUBJECTS: { readonly [subject: number]: string } = {
  24: "windowMs",
  25: "lease",
};

/** The shortest window, in milliseconds. */
export const minWindowMs = (tickMs: number): number => Math.max(1000, 3 * tickMs);
