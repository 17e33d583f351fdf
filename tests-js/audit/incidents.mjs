// Incidents of fleets with IDs, each with its trouble at a known place, and the same fleets without it. Deterministic by seed.
//
// An incident has rows and how they are written (`layout`, `args` of the command line, `columns`, `format`, `order`, `timeText`), and
// `expected`: the findings, each with `kind`, and what must be exact of it: `count`, `nodes`, `hosts`, `fromMs` and `toMs`. `also`: kinds
// that may be found too, since the trouble shows itself in them as well.
import { randomFrom } from "../simulations/world.mjs";
import { LAYOUTS, ORDERS, STARTS, simulate } from "./fleet.mjs";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 9, 5, 8);
/** Of UidGenerator, whose time ends in 2024. */
const BAIDU_START_MS = Date.UTC(2018, 2, 1);
const BAIDU_END_MS = LAYOUTS.baidu.epochMs + 2 ** 28 * 1000;
/** The last second that it has. */
const BAIDU_LAST_MS = BAIDU_END_MS - 1000;

const hostName = (at) => `api-${String(at).padStart(2, "0")}`;

/** Processes with a node id each, on a host each, with clocks up to 20 ms apart. */
function fleetOf(size, { random, start, nodeOf = (at) => 3 * at + 1 }) {
  return Array.from({ length: size }, (_, at) => {
    const offsetMs = random.below(41) - 20;
    return { node: nodeOf(at), host: at, start, clock: (ms) => ms + offsetMs };
  });
}

const hostsOf = (processes) =>
  Array.from({ length: 1 + Math.max(...processes.map(({ host }) => host)) }, (_, at) => hostName(at));

/** What is usual: a millisecond layout, and 800 IDs a second. */
function usual({ count, random }, more = {}) {
  const layout = more.layout ?? "default";
  const perSecond = more.perSecond ?? 800;
  const fromMs = more.fromMs ?? START_MS;
  const spanMs = (1000 * count) / perSecond;
  return {
    layout,
    perSecond,
    fromMs,
    /** The time at a share of the stretch. */
    at: (share) => Math.floor(fromMs + share * spanMs),
    run: (processes, options = {}) =>
      simulate({ layout: LAYOUTS[layout], processes, fromMs, perSecond, count, random, ...options }),
  };
}

const timeOf = (layout, tick) => LAYOUTS[layout].epochMs + tick * LAYOUTS[layout].tickMs;

/** The times of ticks, as `fromMs` and `toMs`. */
const between = (layout, ticks) => ({
  fromMs: timeOf(layout, Math.min(...ticks)),
  toMs: timeOf(layout, Math.max(...ticks)),
});

/** Keeps what some processes mint: `{ index, tick, sequence }`. */
function watch(...wanted) {
  const kept = [];
  return { kept, minted: (index, tick, sequence) => wanted.includes(index) && kept.push({ index, tick, sequence }) };
}

/** The finding of the IDs that occur more than once in what was kept of one node. */
function repeatsIn(layout, node, kept) {
  const counts = new Map();
  for (const { tick, sequence } of kept) {
    const key = tick * 2 ** 13 + sequence;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const keys = [...counts].filter(([, times]) => times > 1).map(([key]) => Math.floor(key / 2 ** 13));
  return keys.length === 0 ? [] : [{ kind: "repeats", count: keys.length, nodes: [node], ...extremes(layout, keys) }];
}

/** As `between`, of lists of any length. */
function extremes(layout, ticks) {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const tick of ticks) [first, last] = [Math.min(first, tick), Math.max(last, tick)];
  return between(layout, [first, last]);
}

/** The finding of the ticks in which two hosts minted, in what was kept of one node. Without such a tick, they took turns. */
function sharedIn(layout, node, kept, hosts) {
  const masks = new Map();
  for (const { index, tick } of kept) masks.set(tick, (masks.get(tick) ?? new Set()).add(hosts[index]));
  const ticks = [...masks].filter(([, names]) => names.size > 1).map(([tick]) => tick);
  const wanted = ticks.length > 0 ? ticks : [...masks.keys()];
  const names = [...new Set(wanted.flatMap((tick) => [...masks.get(tick)]))].sort();
  const found = { kind: "shared_node", nodes: [node], hosts: names };
  return ticks.length > 0 ? { ...found, count: ticks.length, ...extremes(layout, ticks) } : found;
}

/** One process with another clock. */
const withClock = (processes, index, clock) =>
  processes.map((process, at) => (at === index ? { ...process, clock: (ms) => clock(ms, process.clock) } : process));

/** A step back by 2.5 s. Before it the node mints in even ticks, and after it in odd ones, so that nothing repeats. */
function clockBack(context) {
  const { run, at, layout } = usual(context);
  const [index, stepMs] = [4, at(0.6)];
  const clock = (ms, own) => {
    if (!context.trouble || ms < stepMs) return 2 * Math.floor(own(ms) / 2);
    return 2 * Math.floor((own(ms) - 2500) / 2) + 1;
  };
  const processes = withClock(fleetOf(12, context), index, clock);
  const { rows, untilMs, steps } = run(processes);
  const expected = steps.map(({ fromTick, toTick }) => ({
    kind: "clock_back",
    count: 1,
    nodes: [processes[index].node],
    fromMs: timeOf(layout, fromTick),
    toMs: timeOf(layout, toTick),
  }));
  return { layout, rows, untilMs, expected, also: ["created_at"] };
}

/** A step forward by an hour, which lasts. */
function clockForward(context) {
  const { run, at, layout } = usual(context);
  const [index, stepMs] = [4, at(0.6)];
  const jumpMs = context.trouble ? HOUR_MS : 0;
  const processes = withClock(fleetOf(12, context), index, (ms, own) => own(ms) + (ms < stepMs ? 0 : jumpMs));
  const seen = [];
  const minted = (one, tick) => {
    if (one === index) seen.push(tick);
  };
  const { rows, untilMs } = run(processes, { minted });
  const after = seen.findIndex((tick, place) => place > 0 && tick - seen[place - 1] > HOUR_MS / 2);
  const place = { fromMs: timeOf(layout, seen[after - 1]), toMs: timeOf(layout, seen[after]) };
  const expected = after < 0 ? [] : [{ kind: "clock_forward", count: 1, nodes: [processes[index].node], ...place }];
  return { layout, rows, untilMs: untilMs + 2 * HOUR_MS, expected };
}

/** For 3 % of the time an instance of a deployment runs beside the one that it replaces, with the node id of that one. */
function twoProcesses(context) {
  const { run, at, layout } = usual(context, { perSecond: 20_000 });
  const [processes, index] = [fleetOf(12, context), 4];
  const old = processes[index];
  processes[index] = { ...old, untilMs: at(0.6) };
  processes.push({ ...old, fromMs: at(context.trouble ? 0.57 : 0.6) });
  const { kept, minted } = watch(index, 12);
  const { rows, untilMs } = run(processes, { minted });
  return { layout, rows, untilMs, expected: repeatsIn(layout, old.node, kept), also: ["looks_shared"] };
}

/** Two hosts with one node id, all the time. The primary key refused what would repeat. */
function twoHosts(context) {
  const { run, layout } = usual(context);
  const processes = fleetOf(13, { ...context, start: STARTS.quarter });
  if (context.trouble) processes[12].node = processes[4].node;
  const { kept, minted } = watch(4, 12);
  const { rows, untilMs } = run(processes, { minted, unique: true });
  const hosts = hostsOf(processes);
  const expected = context.trouble ? [sharedIn(layout, processes[4].node, kept, hosts)] : [];
  return { layout, rows, hosts, columns: ["id", "host"], format: "csv", untilMs, expected, also: ["looks_shared"] };
}

/** The same without the column `host`. If sequences begin at zero, IDs repeat; if they begin anywhere, ticks have two runs of numbers. */
const withoutHosts = (start) => (context) => {
  const { run, layout } = usual(context, { perSecond: 5000 });
  const processes = fleetOf(13, { ...context, start: STARTS[start] });
  if (context.trouble) processes[12].node = processes[4].node;
  const { kept, minted } = watch(4, 12);
  const { rows, untilMs } = run(processes, { minted, unique: start !== "zero" });
  const [node] = [processes[4].node];
  const expected = [
    ...repeatsIn(layout, node, context.trouble ? kept : []),
    ...(context.trouble && start !== "zero" ? [{ kind: "looks_shared", nodes: [node] }] : []),
  ];
  return { layout, rows, untilMs, expected, also: start === "zero" ? ["looks_shared"] : [] };
};

/** 37 processes, each with `random.int(1, 31)` for both halves of its node id, as in pig-mesh #1258, and at least two with the same. */
function randomNodes(context) {
  const { run, layout } = usual(context);
  const { random } = context;
  const draw = () => (1 + random.below(31)) * 32 + 1 + random.below(31);
  let nodes;
  do nodes = Array.from({ length: 37 }, (_, at) => (context.trouble ? draw() : at));
  while (context.trouble && new Set(nodes).size === 37);
  const processes = fleetOf(37, { random, start: STARTS.quarter, nodeOf: (at) => nodes[at] });
  const shared = nodes.filter((node, at) => nodes.indexOf(node) !== at);
  const indexes = nodes.flatMap((node, at) => (shared.includes(node) ? [at] : []));
  const { kept, minted } = watch(...indexes);
  const { rows, untilMs } = run(processes, { minted, unique: true });
  const hosts = hostsOf(processes);
  const expected = [...new Set(shared)].map((node) =>
    sharedIn(
      layout,
      node,
      kept.filter(({ index }) => nodes[index] === node),
      hosts,
    ),
  );
  if (context.trouble) expected.push({ kind: "random_nodes", count: new Set(nodes).size });
  return { layout, rows, hosts, columns: ["id", "host"], format: "ndjson", untilMs, expected, also: ["looks_shared"] };
}

/** One clock is 40 days ahead. */
function future(context) {
  const { run, layout } = usual(context);
  const aheadMs = context.trouble ? 40 * DAY_MS : 0;
  const processes = withClock(fleetOf(12, context), 4, (ms, own) => own(ms) + aheadMs);
  const { kept, minted } = watch(4);
  const { rows, untilMs } = run(processes, { minted });
  const ticks = kept.map(({ tick }) => tick);
  const found = { kind: "future", count: kept.length, nodes: [processes[4].node], ...extremes(layout, ticks) };
  return { layout, rows, untilMs, expected: context.trouble ? [found] : [] };
}

/** One clock begins in 1970, as without a battery. IDs of times before the epoch are negative. */
function beforeEpoch(context) {
  const { run, layout, fromMs } = usual(context);
  const behindMs = context.trouble ? fromMs : 0;
  const processes = withClock(fleetOf(12, context), 4, (ms, own) => own(ms) - behindMs);
  const { kept, minted } = watch(4);
  const { rows, untilMs } = run(processes, { minted });
  const found = { kind: "before_epoch", count: kept.length, nodes: [processes[4].node] };
  return { layout, rows, untilMs, expected: context.trouble ? [found] : [], also: ["negative"] };
}

/** A bug sets the sign bit in the IDs of one process. */
function negative(context) {
  const { run, layout } = usual(context);
  const processes = fleetOf(12, context);
  const { kept, minted } = watch(4);
  const { rows, untilMs } = run(processes, { minted });
  if (context.trouble)
    for (let at = 0; at < rows.length; at++) if (rows.hosts[at] === 4) rows.halves[2 * at + 1] |= 2 ** 31;
  const found = { kind: "negative", count: kept.length };
  return { layout, rows, untilMs, format: "raw", expected: context.trouble ? [found] : [], also: ["before_epoch"] };
}

/** UidGenerator in the hours around 2024-11-20T13:24:16Z, when its 28 bits of seconds ended. */
function overflow(context) {
  const spanMs = (1000 * context.count) / 800;
  const fromMs = BAIDU_END_MS - (context.trouble ? 0.7 * spanMs : 1.5 * spanMs + 8 * 365 * DAY_MS);
  const { run, layout } = usual(context, { layout: "baidu", fromMs });
  const processes = fleetOf(12, { ...context, nodeOf: (at) => 101 + at });
  let count = 0;
  const minted = (_, tick) => {
    if (tick >= 2 ** 28) count++;
  };
  const { rows, untilMs } = run(processes, { minted });
  const expected = context.trouble
    ? [
        { kind: "negative", count },
        { kind: "time_ends", atMs: BAIDU_LAST_MS },
      ]
    : [];
  return { layout, rows, untilMs, expected, also: ["before_epoch"] };
}

/** A time field that ends within 5 years. */
function timeEnds(context) {
  const { run, layout } = usual(context, { layout: "baidu", fromMs: Date.UTC(context.trouble ? 2021 : 2018, 2, 1) });
  const { rows, untilMs } = run(fleetOf(12, context));
  return { layout, rows, untilMs, expected: context.trouble ? [{ kind: "time_ends", atMs: BAIDU_LAST_MS }] : [] };
}

/** `created_at` is in UTC+8 without its zone, or one host's clock is 90 s behind. */
const createdAt = (kind) => (context) => {
  const { run, layout } = usual(context);
  const behindMs = context.trouble && kind === "host" ? 90_000 : 0;
  const processes = withClock(fleetOf(12, context), 4, (ms, own) => own(ms) - behindMs);
  const { rows, untilMs } = run(processes);
  if (context.trouble && kind === "zone") for (let at = 0; at < rows.length; at++) rows.writtenMs[at] += 8 * HOUR_MS;
  const found =
    kind === "zone" ? { kind: "created_at" } : { kind: "created_at", nodes: [processes[4].node], hosts: [hostName(4)] };
  const columns = ["id", "host", "created_at"];
  const timeText = kind === "zone" ? "postgres" : "iso";
  const hosts = hostsOf(processes);
  return { layout, rows, hosts, columns, format: "csv", timeText, untilMs, expected: context.trouble ? [found] : [] };
};

/** A double has 53 bits: the nearest multiple of 64, or the shortest decimal text of it. */
const ROUNDED = { multiple: (id) => BigInt(Number(id)), text: (id) => BigInt(`${Number(id)}`) };

/** IDs went through a double: all, or 3 % of them. */
const rounded = (form, share) => (context) => {
  const { run, layout } = usual(context);
  const { rows, untilMs } = run(fleetOf(12, context));
  const { random } = context;
  if (context.trouble)
    for (let at = 0; at < rows.length; at++)
      if (share === 1 || random.chance(share)) rows.ids[at] = ROUNDED[form](rows.ids[at]);
  const also = ["repeats", "looks_shared", "peak", "clock_back"];
  return { layout, rows, untilMs, order: "shuffled", expected: context.trouble ? [{ kind: "rounded" }] : [], also };
};

/** The first 40 % have the epoch of Twitter, the rest that of Frazil. */
function mixedLayouts(context) {
  const { run, at, layout } = usual(context);
  const processes = fleetOf(12, context);
  const { rows, untilMs } = run(processes);
  const ticks = BigInt(LAYOUTS.default.epochMs - LAYOUTS.twitter.epochMs) << 22n;
  let count = 0;
  for (let place = 0; place < rows.length; place++)
    if (context.trouble && rows.writtenMs[place] < at(0.4)) {
      rows.ids[place] += ticks;
      count++;
    }
  const expected = context.trouble ? [{ kind: "mixed_layouts", count }] : [];
  return { layout, rows, untilMs, expected, also: ["future", "clock_back", "clock_forward"] };
}

/** Four bursts of 10,000 IDs use all sequences of ticks. */
function peak(context) {
  const { run, at, layout } = usual(context);
  const processes = fleetOf(12, context);
  const size = context.trouble ? 10_000 : 2000;
  const surges = [0.2, 0.5, 0.55, 0.9].map((share) => ({ atMs: at(share), index: 4, size }));
  const full = [];
  const minted = (_, tick, sequence) => {
    if (sequence === 4095) full.push(tick);
  };
  const { rows, untilMs } = run(processes, { surges, minted });
  const found = { kind: "peak", count: full.length, nodes: [processes[4].node] };
  const expected = context.trouble ? [{ ...found, ...extremes(layout, full) }] : [];
  return { layout, rows, untilMs, order: "sorted", expected };
}

/** A node without IDs for a fifth of the time. */
function silent(context) {
  const { run, at, layout } = usual(context, { perSecond: 5 });
  const processes = fleetOf(12, context);
  const node = processes[4].node;
  if (context.trouble) {
    processes.push({ ...processes[4], fromMs: at(0.7) });
    processes[4].untilMs = at(0.5);
  }
  const { kept, minted } = watch(4, 12);
  const { rows, untilMs } = run(processes, { minted });
  const ticksOf = (wanted) => kept.filter(({ index }) => index === wanted).map(({ tick }) => tick);
  const [last, first] = [extremes(layout, ticksOf(4)).toMs, extremes(layout, ticksOf(12)).fromMs];
  const expected = context.trouble ? [{ kind: "silent", nodes: [node], fromMs: last, toMs: first }] : [];
  return { layout, rows, untilMs, expected };
}

/** 57 rows that are no numbers. */
function unreadable(context) {
  const { run, layout } = usual(context);
  const { rows, untilMs } = run(fleetOf(12, context));
  const lines = new Map(
    Array.from({ length: context.trouble ? 57 : 0 }, (_, at) => [7 + 11 * at, at % 2 ? "n/a" : "NULL"]),
  );
  const expected = context.trouble ? [{ kind: "unreadable", count: 57 }] : [];
  return { layout, rows, untilMs, otherLines: lines, expected };
}

const MAKERS = {
  "two processes with one node id for a while": twoProcesses,
  "a node id of two hosts": twoHosts,
  "a node id of two hosts, without their names, sequences from zero": withoutHosts("zero"),
  "a node id of two hosts, without their names, sequences from anywhere": withoutHosts("quarter"),
  "37 processes with random node ids": randomNodes,
  "a clock that stepped back": clockBack,
  "a clock that stepped forward": clockForward,
  "a clock that is 40 days ahead": future,
  "a clock in 1970": beforeEpoch,
  "created_at in another time zone": createdAt("zone"),
  "a host whose clock is 90 s behind": createdAt("host"),
  "all IDs through a double, exactly": rounded("multiple", 1),
  "all IDs through a double and its text": rounded("text", 1),
  "3 % of the IDs through a double, exactly": rounded("multiple", 0.03),
  "3 % of the IDs through a double and its text": rounded("text", 0.03),
  "two layouts in one column": mixedLayouts,
  "ticks that are full": peak,
  "UidGenerator when its time ended": overflow,
  "a time field that ends soon": timeEnds,
  "negative IDs": negative,
  "a node that is silent": silent,
  "rows that are no IDs": unreadable,
};
export const NAMES = Object.keys(MAKERS);

/** Completes what a maker returns. `--now` is an hour after the last row. */
function complete(name, made, random) {
  const { order = "arrival", untilMs, ...rest } = made;
  const rows = ORDERS[order](made.rows, random);
  return {
    name,
    columns: ["id"],
    format: "lines",
    hosts: [],
    also: [],
    ...rest,
    order,
    rows,
    nowMs: Math.ceil(untilMs) + HOUR_MS,
  };
}

/** The incident of that name; with `trouble: false`, the same fleet without its trouble, and nothing to be found. */
export function incident(name, { count, seed = 1, trouble = true }) {
  const random = randomFrom(seed);
  return complete(name, MAKERS[name]({ count, random, trouble }), random);
}

/** Fleets in which nothing is wrong, by layout, start of sequences, traffic, order and columns. */
const CLEAN = {
  default: ["zero", "quarter", "counter"].map((start) => ({ layout: "default", start })),
  twitter: [{ layout: "twitter" }],
  baidu: [{ layout: "baidu", fromMs: BAIDU_START_MS, nodeOf: (at) => 1000 + at }],
  sonyflake: [
    { layout: "sonyflake", nodeOf: (at) => 10 * 256 + 5 + 7 * at },
    // All IDs of these addresses are multiples of 64, as if a double had rounded them.
    { layout: "sonyflake", nodeOf: (at) => 5 * 256 + 64 * (1 + at) },
  ],
  leaf: [{ layout: "leaf", start: "hundred" }],
};
export const CLEAN_NAMES = Object.keys(CLEAN);

/**
 * A clean fleet of a seed, which chooses the rest: its size, traffic (of single IDs too), order, columns, a half of the rows that is in
 * another table, and a node id that passes from one host to another.
 */
export function cleanFleet(name, { count, seed }) {
  const random = randomFrom(seed);
  const one = (list) => list[random.below(list.length)];
  const { start = "zero", nodeOf, ...chosen } = one(CLEAN[name]);
  const isHalf = random.chance(0.3);
  const onlySingles = random.chance(0.3);
  const isRegular = random.chance(0.3);
  const size = one([1, 2, 12, 60]);
  // No more than Sonyflake and UidGenerator can mint.
  const perSecond = Math.min(1000 * size, one([0.002, 0.05, 5, 800, 20_000]));
  const context = { count: isHalf ? 2 * count : count, random };
  const { run, at, layout } = usual(context, { ...chosen, perSecond });
  const processes = fleetOf(size, { random, start: STARTS[start], nodeOf });
  if (random.chance(0.5)) {
    // The next host has the same clock here, and begins with a later tick than the last one of the host before it.
    const gapMs = Math.max(20, 2 * LAYOUTS[layout].tickMs);
    // Or it is the same host, after a restart.
    const host = one([0, processes.length]);
    processes.push({ ...processes[0], host, fromMs: at(0.5) + gapMs });
    processes[0].untilMs = at(0.5);
  }
  const made = run(processes, { onlySingles, isRegular });
  const places = Array.from({ length: made.rows.length }, (_, place) => place).filter(
    () => !isHalf || random.chance(0.5),
  );
  const hosts = hostsOf(processes);
  const columns = one([["id"], ["id", "host"], ["id", "created_at"], ["id", "host", "created_at"]]);
  const format = columns.length > 1 ? one(["csv", "ndjson"]) : one(["lines", "csv", "ndjson", "raw"]);
  const rest = { hosts, columns, format, timeText: one(["iso", "postgres", "ms"]), order: one(Object.keys(ORDERS)) };
  return complete(
    `clean: ${name}`,
    { layout, rows: made.rows.taken(places), untilMs: made.untilMs, expected: [], ...rest },
    random,
  );
}
