// Written by `cargo run -p xtask -- tables` from crates/core. Do not edit.

/** Each named layout: epoch (Unix ms), tick (ms), unsigned, and its fields as `kind bits [name]`. */
export const LAYOUTS = {
  default: [1704067200000, 1, 0, "time 41,node 10,sequence 12"],
  twitter: [1288834974657, 1, 0, "time 41,node 5 datacenter,node 5 worker,sequence 12"],
  discord: [1420070400000, 1, 1, "time 42,node 5 worker,node 5 process,sequence 12"],
  instagram: [1314220021721, 1, 1, "time 41,node 13 shard,sequence 10"],
  sonyflake: [1409529600000, 10, 0, "time 39,sequence 8,node 16 machine"],
  sonyflake2: [1735689600000, 10, 0, "time 39,sequence 8,node 16 machine"],
  mastodon: [0, 1, 1, "time 48,sequence 16"],
  baidu: [1463673600000, 1000, 0, "time 28,node 22 worker,sequence 13"],
  leaf: [1288834974657, 1, 0, "time 41,node 10,sequence 12"],
  seata: [1588435200000, 1, 0, "node 10,time 41,sequence 12"],
  tsid: [1577836800000, 1, 1, "time 42,node 10,sequence 12"],
  cosid: [1577203200000, 1, 0, "time 41,node 10,sequence 12"],
  "multi-clock": [1704067200000, 1, 0, "time 41,clock 4,node 8,sequence 10"],
  edge: [1704067200000, 1, 0, "time 41,node 14,sequence 8"],
  safe53: [1704067200000, 1, 0, "time 41,node 3,sequence 9"],
} as const;

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
