// Written by `cargo run -p xtask -- tables` from crates/core. Do not edit.

import { Rule } from "./rules.js";

/** The rules that the calls for public IDs answer with, by status. */
export const RULES: { readonly [status: number]: Rule } = {
  1: Rule.WHOLE_NUMBER,
  29: Rule.TEXT_LENGTH,
  35: Rule.TEXT_BASE62,
  54: Rule.KEY_TEXT,
  55: Rule.KEY_CHECKSUM,
  56: Rule.KIND_SYNTAX,
  57: Rule.SEALED_TEXT,
  58: Rule.SHORT_SLOT,
};

/** The places and widths of the frame of public IDs, in bytes. */
export enum Place {
  ID_BYTES = 8,
  TEXT_BYTES = 128,
  FINGERPRINT_AT = 38,
  DERIVED_AT = 46,
  DERIVED_END = 62,
  KIND_AT = 64,
  SEALED_WIDTH = 22,
  SHORT_WIDTH = 11,
}
