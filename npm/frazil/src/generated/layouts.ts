// Written by `cargo run -p xtask -- tables` from crates/core. Do not edit.

/** Each named layout on a line: name, epoch (Unix ms) and tick (ms) in base 36, unsigned, and its fields as kind, width and `:name`. */
export const LAYOUTS = `default lqu5m2o0 1 0 t41 n10 s12
twitter gg2z2f29 1 0 t41 n5:datacenter n5:worker s12
discord i4dd91c0 1 1 t42 n5:worker n5:process s12
instagram grqso2qh 1 1 t41 n13:shard s10
sonyflake hzj1j400 a 0 t39 s8 n16:machine
sonyflake2 m5d4ruo0 a 0 t39 s8 n16:machine
mastodon 0 1 1 t48 s16
baidu ioehgxs0 rs 0 t28 n22:worker s13
leaf gg2z2f29 1 0 t41 n10 s12
seata k9ptb0g0 1 0 n10 t41 s12
tsid k4ujaio0 1 1 t42 n10 s12
cosid k4k229s0 1 0 t41 n10 s12
multi-clock lqu5m2o0 1 0 t41 c4 n8 s10
edge lqu5m2o0 1 0 t41 n14 s8
safe53 lqu5m2o0 1 0 t41 n3 s9`;

/** Times below this are in seconds where milliseconds are meant: seconds until 5138, and milliseconds until 1973. @internal */
export const SECONDS_END = 100000000000;
/** An epoch from here on is in seconds (2001), and so is a clock: one that shows less is one that starts in 1970. @internal */
export const SECONDS_START = 1000000000;

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
