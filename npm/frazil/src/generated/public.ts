// Written by `cargo run -p xtask -- tables` from crates/core. Do not edit.

import { Rule } from "./rules.js";

/** What the calls for public IDs answer with. */
export enum Status {
  WHOLE_NUMBER = 1,
  TEXT_LENGTH = 29,
  TEXT_BASE62 = 35,
  KEY_TEXT = 54,
  KEY_CHECKSUM = 55,
  KIND_SYNTAX = 56,
  SEALED_TEXT = 57,
  SHORT_SLOT = 58,
  KEY_FILLED = 59,
  OTHER_KEY = 61,
  OTHER_SLOT = 62,
}

/** The rules of those. */
export const RULES: { readonly [status: number]: Rule } = {
  [Status.WHOLE_NUMBER]: Rule.WHOLE_NUMBER,
  [Status.TEXT_LENGTH]: Rule.TEXT_LENGTH,
  [Status.TEXT_BASE62]: Rule.TEXT_BASE62,
  [Status.KEY_TEXT]: Rule.KEY_TEXT,
  [Status.KEY_CHECKSUM]: Rule.KEY_CHECKSUM,
  [Status.KIND_SYNTAX]: Rule.KIND_SYNTAX,
  [Status.SEALED_TEXT]: Rule.SEALED_TEXT,
  [Status.SHORT_SLOT]: Rule.SHORT_SLOT,
  [Status.KEY_FILLED]: Rule.KEY_FILLED,
  [Status.OTHER_KEY]: Rule.OTHER_KEY,
  [Status.OTHER_SLOT]: Rule.OTHER_SLOT,
};

/** The places and widths of the frame of public IDs, in bytes. */
export enum Place {
  ID_BYTES = 8,
  TEXT_BYTES = 128,
  KEY_WIDTH = 38,
  DERIVED_END = 54,
  KIND_AT = 64,
  MAX_KEYS = 16,
  OPENED_BYTES = 384,
  SEALED_WIDTH = 22,
  SHORT_WIDTH = 11,
}
