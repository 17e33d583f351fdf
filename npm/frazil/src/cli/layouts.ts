/** `npx frazil layouts`: the built-in layouts. */
import { Layout } from "frazil";
import { fieldsOf } from "./chosen-layout.js";
import type { Command } from "./command.js";
import type { Flags } from "./flags.js";
import { line, table } from "./output.js";

/** A time without its zero parts. */
const shortTime = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .replace(/^\+0/, "")
    .replace(/\.000Z$/, "Z")
    .replace(/T00:00:00Z$/, "");

function run(flags: Flags): number {
  const layouts = Layout.names.map((name) => [name, Layout.named(name) as Layout] as const);
  if (flags.json) {
    for (const [name, layout] of layouts) {
      const { lastDate, nodes, idsPerSecond } = layout.plan();
      line(JSON.stringify({ name, ...layout.toJSON(), lastDate, nodes, idsPerSecond }));
    }
    return 0;
  }
  table([
    ["name", "tick", "epoch", "last time", "fields, most significant first"],
    ...layouts.map(([name, layout]) => [
      name,
      `${layout.tickMs} ms`,
      shortTime(layout.epochMs),
      shortTime(Number(layout.plan().lastDate)).replace(/T.*/, ""),
      `${fieldsOf(layout, ", ")}${layout.unsigned ? ", unsigned" : ""}`,
    ]),
  ]);
  return 0;
}

export const layouts: Command = {
  name: "layouts",
  summary: "the layouts that have a name",
  usage: "",
  examples: [["layouts", ""]],
  flags: ["json"],
  run,
};
