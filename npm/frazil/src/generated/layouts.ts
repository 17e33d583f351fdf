// Written by `cargo run -p xtask -- tables` from crates/core. Do not edit.

/** Each named layout on a line: name, epoch (Unix ms), tick (ms), unsigned, and its fields as kind, width and `:name`. */
export const LAYOUTS = `default 1704067200000 1 0 t41 n10 s12
twitter 1288834974657 1 0 t41 n5:datacenter n5:worker s12
discord 1420070400000 1 1 t42 n5:worker n5:process s12
instagram 1314220021721 1 1 t41 n13:shard s10
sonyflake 1409529600000 10 0 t39 s8 n16:machine
sonyflake2 1735689600000 10 0 t39 s8 n16:machine
mastodon 0 1 1 t48 s16
baidu 1463673600000 1000 0 t28 n22:worker s13
leaf 1288834974657 1 0 t41 n10 s12
seata 1588435200000 1 0 n10 t41 s12
tsid 1577836800000 1 1 t42 n10 s12
cosid 1577203200000 1 0 t41 n10 s12
multi-clock 1704067200000 1 0 t41 c4 n8 s10
edge 1704067200000 1 0 t41 n14 s8
safe53 1704067200000 1 0 t41 n3 s9`;

/** The names of each layout's node parts. */
export interface LayoutParts {
  default: "node";
  twitter: "datacenter" | "worker";
  discord: "worker" | "process";
  instagram: "shard";
  sonyflake: "machine";
  sonyflake2: "machine";
  mastodon: never;
  baidu: "worker";
  leaf: "node";
  seata: "node";
  tsid: "node";
  cosid: "node";
  "multi-clock": "node";
  edge: "node";
  safe53: "node";
}
