export declare const LAYOUTS = "default lqu5m2o0 1 0 t41 n10 s12\ntwitter gg2z2f29 1 0 t41 n5:datacenter n5:worker s12\ndiscord i4dd91c0 1 1 t42 n5:worker n5:process s12\ninstagram grqso2qh 1 1 t41 n13:shard s10\nsonyflake hzj1j400 a 0 t39 s8 n16:machine\nsonyflake2 m5d4ruo0 a 0 t39 s8 n16:machine\nmastodon 0 1 1 t48 s16\nbaidu ioehgxs0 rs 0 t28 n22:worker s13\nleaf gg2z2f29 1 0 t41 n10 s12\nseata k9ptb0g0 1 0 n10 t41 s12\ntsid k4ujaio0 1 1 t42 n10 s12\ncosid k4k229s0 1 0 t41 n10 s12\nmulti-clock lqu5m2o0 1 0 t41 c4 n8 s10\nedge lqu5m2o0 1 0 t41 n14 s8\nsafe53 lqu5m2o0 1 0 t41 n3 s9";
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
