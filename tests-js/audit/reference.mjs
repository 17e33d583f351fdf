// A slow auditor, which reads a file as simply as possible and shares no code with the engine. It has the exact kinds of findings only.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { LAYOUTS } from "./fleet.mjs";

const YEARS_MS = 5 * 365.25 * 86_400_000;
/** A node whose IDs go back by more than this in order of arrival has a clock that stepped. */
const STEP_MS = 1000;
const TURN_MS = 1000;

/** The rows of a file: `{ id, host, createdMs }`, or `undefined` for one that is no ID. */
export function read(path, format) {
  const bytes = path.endsWith(".gz") ? gunzipSync(readFileSync(path)) : readFileSync(path);
  if (format === "raw")
    return Array.from({ length: bytes.length / 8 }, (_, at) => ({ id: bytes.readBigInt64LE(8 * at) }));
  const lines = bytes.toString("utf8").trimEnd().split("\n");
  const names = format === "csv" ? lines.shift().split(",") : ["id"];
  const rowOf = (line) => {
    if (format === "ndjson") return JSON.parse(line);
    return Object.fromEntries(line.split(",").map((cell, at) => [names[at], cell]));
  };
  return lines.map((line) => {
    const { id, host } = rowOf(line);
    return /^-?\d+$/.test(id) ? { id: BigInt(id), host } : undefined;
  });
}

const bits = (id, shift, width) => Number((id >> BigInt(shift)) & ((1n << BigInt(width)) - 1n));

/** The fields of an ID. The time of a negative one is before the epoch. */
function decode(layout, { id, host }) {
  const tick = Number(id >> BigInt(layout.timeShift));
  return {
    id,
    host,
    tick,
    ms: layout.epochMs + tick * layout.tickMs,
    node: bits(id, layout.nodeShift, layout.nodeBits),
    sequence: bits(id, layout.sequenceShift, layout.sequenceBits),
  };
}

function groups(rows, keyOf) {
  const found = new Map();
  for (const row of rows) {
    const key = keyOf(row);
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(row);
  }
  return found;
}

const times = (rows) => ({
  fromMs: Math.min(...rows.map(({ ms }) => ms)),
  toMs: Math.max(...rows.map(({ ms }) => ms)),
});

/** The turns of a node id: a host, another one, and the first again within a second, in the order of their IDs. */
function turnsIn(rows) {
  const runs = [];
  for (const { ms, host } of rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    if (runs.length > 0 && runs.at(-1).host === host) runs.at(-1).toMs = ms;
    else runs.push({ host, fromMs: ms, toMs: ms });
  }
  return runs.filter(
    ({ host, fromMs }, at) => at > 1 && runs[at - 2].host === host && fromMs - runs[at - 2].toMs <= TURN_MS,
  );
}

/** The kinds of findings that it has. */
export const EXACT = [
  ...["repeats", "shared_node", "clock_back", "future", "before_epoch", "negative", "peak", "time_ends", "unreadable"],
];

/**
 * The findings in rows. `isInOrder`: they are in the order of their arrival. `broken`: the name of a defect that a test puts in:
 * - `neighbours`: a repeat is found only if the equal IDs are neighbours in the file;
 * - `anyNode`: two hosts in one tick are a finding whatever their node ids;
 * - `lastRow`: the last row is not read.
 */
export function audit(all, { layout: name, nowMs, isInOrder }, broken) {
  const layout = LAYOUTS[name];
  const readable = all.filter((row) => row !== undefined);
  const rows = (broken === "lastRow" ? readable.slice(0, -1) : readable).map((row) => decode(layout, row));
  const findings = [];
  const add = (kind, count, more = {}) => count > 0 && findings.push({ kind, count, ...more });
  add("unreadable", all.length - readable.length);

  const ofNode = groups(rows, ({ node }) => node);
  for (const [node, own] of ofNode) {
    const repeated =
      broken === "neighbours"
        ? own.filter(({ id }, at) => at > 0 && own[at - 1].id === id)
        : [...groups(own, ({ id }) => id).values()].filter(({ length }) => length > 1).map(([first]) => first);
    if (repeated.length > 0) add("repeats", repeated.length, { nodes: [node], ...times(repeated) });

    const ticks = [...groups(broken === "anyNode" ? rows : own, ({ tick }) => tick).values()];
    const hostsIn = (tick) => new Set(tick.map(({ host }) => host).filter((host) => host !== undefined));
    const shared = ticks.filter((tick) => hostsIn(tick).size > 1);
    const turns = turnsIn(own);
    if (shared.length > 0) {
      const hosts = [...new Set(shared.flatMap((tick) => [...hostsIn(tick)]))].sort();
      add("shared_node", shared.length, { nodes: [node], hosts, ...times(shared.map(([first]) => first)) });
    } else if (turns.length > 0)
      add("shared_node", turns.length, { nodes: [node], hosts: [...new Set(own.map(({ host }) => host))].sort() });

    const full = ticks.filter(
      (tick) => new Set(tick.map(({ sequence }) => sequence)).size === 2 ** layout.sequenceBits,
    );
    if (full.length > 0) add("peak", full.length, { nodes: [node], ...times(full.map(([first]) => first)) });

    if (isInOrder) {
      // A negative ID is a finding of another kind.
      const positive = own.filter(({ id }) => id >= 0n);
      for (const [at, { ms }] of positive.entries())
        if (at > 0 && positive[at - 1].ms - ms > STEP_MS)
          add("clock_back", 1, { nodes: [node], fromMs: positive[at - 1].ms, toMs: ms });
    }

    const later = own.filter(({ ms }) => ms > nowMs);
    if (later.length > 0) add("future", later.length, { nodes: [node], ...times(later) });
  }
  add("negative", rows.filter(({ id }) => id < 0n).length);
  add("before_epoch", rows.filter(({ ms }) => ms < layout.epochMs).length);
  const atMs = layout.epochMs + (2 ** layout.timeBits - 1) * layout.tickMs;
  if (atMs - nowMs < YEARS_MS) add("time_ends", 1, { atMs });
  return findings;
}
