/** `npx frazil plan`: the capacity of a layout. */
import { fieldsOf, layoutOf } from "./chosen-layout.js";
import type { Command } from "./command.js";
import type { Flags } from "./flags.js";
import { line, table } from "./output.js";

function run(flags: Flags): number {
  const layout = layoutOf(flags);
  const { lastDate, signedUntil, ordered, nodes, idsPerTick, idsPerSecond } = layout.plan();
  if (flags.json) {
    line(JSON.stringify({ ...layout.toJSON(), lastDate, signedUntil, ordered, nodes, idsPerTick, idsPerSecond }));
    return 0;
  }
  table([
    ["layout", fieldsOf(layout, " | ")],
    ["epoch", `${new Date(layout.epochMs).toISOString()} (${layout.epochMs})`],
    ["last time", lastDate.toISOString()],
    [
      "signed",
      signedUntil === undefined ? "depends on the topmost field" : `positive until ${signedUntil.toISOString()}`,
    ],
    ["ordered", ordered ? "yes: the IDs of one generator strictly increase" : "no"],
    ["node ids", nodes],
    ["cap", `${idsPerTick} IDs a tick of ${layout.tickMs} ms for each node, ${idsPerSecond} a second`],
  ]);
  return 0;
}

export const plan: Command = {
  name: "plan",
  summary: "the capacity of a layout, and its last time",
  usage: "",
  examples: [
    ["plan --layout twitter", ""],
    ["plan --epoch 1735689600000", "the default layout with another epoch"],
  ],
  flags: ["layout", "epoch", "json"],
  run,
};
