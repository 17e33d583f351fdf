/** `npx frazil range`: the IDs of a stretch of time. */
import type { Layout, NodeInput } from "frazil";
import { layoutOf } from "./chosen-layout.js";
import { nodeOf } from "./chosen-node.js";
import type { Command } from "./command.js";
import { type Flags, given } from "./flags.js";
import { complain, line, table } from "./output.js";
import { anyMs, isTime } from "./times.js";
import { UsageError } from "./usage-error.js";

/** The ends of the range. */
function endsOf({ from, to }: Flags): [fromMs: number, toMs: number] {
  if (from === undefined || to === undefined) {
    const example = "npx frazil range --from 2026-11-01 --to 2026-12-01";
    throw new UsageError(
      from === to
        ? `range needs both ends\n${example}`
        : `range needs --${from === undefined ? "from" : "to"} too\n${example}`,
    );
  }
  return [anyMs("from", from), anyMs("to", to)];
}

/** Why no ID can be in a range whose two bounds are equal. */
function whyEmpty(layout: Layout, fromMs: number, toMs: number): string {
  const { epochMs, tickMs } = layout;
  const lastMs = Number(layout.plan().lastDate); // where the last tick begins
  if (toMs <= epochMs) return `it ends before the first time of the layout, ${isoOf(epochMs)}`;
  if (fromMs < epochMs) return `it ends within the first tick of the layout, of ${tickMs} ms from ${isoOf(epochMs)}`;
  if (fromMs >= lastMs + tickMs) return `it begins after the last time of the layout, ${isoOf(lastMs)}`;
  return fromMs === toMs ? "--from and --to are one time" : `both ends lie in one tick of ${tickMs} ms`;
}

/** A time as text, even if no `Date` can hold it. */
const isoOf = (ms: number): string => new Date(ms).toJSON() ?? "a time beyond what a date can be";
const timeOf = (ms: number): string => `${isoOf(ms)} (${ms})`;

async function run(flags: Flags): Promise<number> {
  const [fromMs, toMs] = endsOf(flags);
  const layout = layoutOf(flags);
  const node = flags.node === undefined ? undefined : (nodeOf(flags.node) as NodeInput<never>);
  const { fromId, untilId } = layout.range(fromMs, toMs, given({ node }));
  if (fromId === untilId) await complain(`frazil: no ID is in this range: ${whyEmpty(layout, fromMs, toMs)}\n`);
  if (flags.json) {
    line(JSON.stringify({ fromId: `${fromId}`, untilId: `${untilId}` }));
    return 0;
  }
  table([
    ["fromId", fromId],
    ["untilId", untilId],
    ["from", timeOf(fromMs)],
    ["to", timeOf(toMs)],
    ["SQL", `id >= ${fromId} AND id < ${untilId}`],
  ]);
  return 0;
}

export const range: Command = {
  name: "range",
  summary: "the IDs of a stretch of time, for a query",
  usage: "--from TIME --to TIME",
  examples: [
    ["range --from 2026-11-01 --to 2026-12-01", "those of November 2026 (UTC)"],
    ["range --from 2026-11-01T08:00:00+01:00 --to now --layout twitter", ""],
  ],
  notes:
    "The range is half open: id >= fromId AND id < untilId. Generators may be ahead of the clock by their\nlead, up to a second, so a range up to now does not have all IDs that exist. Times before the epoch count as\nthe epoch. If no ID can be in the range, standard error says why.",
  flags: ["from", "to", "node", "layout", "epoch", "json"],
  meanings: {
    from: ["TIME", "the first time of the range: a day (in UTC), a time with its zone, Unix milliseconds, or now"],
    node: ["N", "the node id, for a layout that has it above the time (seata)"],
  },
  meant: ([from = "", to = "", ...rest]) =>
    isTime(from) && isTime(to) && rest.length === 0 ? `range --from ${from} --to ${to}` : undefined,
  run,
};
