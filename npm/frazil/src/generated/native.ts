// Written by `cargo run -p xtask -- tables` from crates/core. Do not edit.

import type { ErrorCode } from "./errors.js";
import { Rule } from "./rules.js";

/** The codes that the core answers with, by status. */
export const CODES: { readonly [status: number]: ErrorCode } = {
  9: "UNSUPPORTED_FILE_SYSTEM",
  10: "STATE_FILE_CORRUPT",
  11: "STATE_FILE_AHEAD",
  12: "STATE_FILE_FAILED",
  13: "UNPROVEN_PLATFORM",
  20: "LEASE_EXPIRED",
};

/** Those that pass although the caller changes nothing. */
export const RETRYABLE = [20];

/** What those mean that no rule explains. */
export const MEANINGS: { readonly [status: number]: string } = {
  9: "the file system cannot keep the guarantee of a state file",
  10: "the state file is damaged, truncated, a copy, or of another layout",
  11: "the state file has reserved time far ahead of the clock",
  12: "the state file cannot be made, opened or written",
  13: "state files are not proven on this platform",
  20: "the granted window is over and has not been renewed yet",
};

/** The rules that it answers with, by number. */
export const RULES: { readonly [rule: number]: Rule } = {
  9: Rule.NAME_SYNTAX,
  36: Rule.A_PATH,
};

/** What the answers are about, by number. */
export const SUBJECTS: { readonly [subject: number]: string } = {
  18: "generator",
  20: "dir",
  21: "scope",
  22: "fileSystem",
  23: "startWaitMs",
  31: "acceptUnprovenPlatform",
};
