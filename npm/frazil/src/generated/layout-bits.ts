// Written by `cargo run -p xtask -- tables` from crates/core. Do not edit.

/** The bits of each named layout. @internal */
export const LAYOUT_BITS = {
  default: 63,
  twitter: 63,
  discord: 64,
  instagram: 64,
  sonyflake: 63,
  sonyflake2: 63,
  mastodon: 64,
  baidu: 63,
  leaf: 63,
  seata: 63,
  tsid: 64,
  cosid: 63,
  "multi-clock": 63,
  edge: 63,
  safe53: 53,
};
