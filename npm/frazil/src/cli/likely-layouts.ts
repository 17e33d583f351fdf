/** Which named layouts an ID can be of: those that give a time between the first day of their epoch and tomorrow. */
import { Layout } from "frazil";
import { wallClock } from "../base/clock.js";

const DAY_MS = 86_400_000;

/** What speaks against the time that a layout gives; `undefined` if nothing does. */
export function whyNot(layout: Layout, id: bigint): string | undefined {
  const ms = layout.timestampOf(id);
  if (ms > wallClock() + DAY_MS) return "its time has not come yet";
  return ms < layout.epochMs + DAY_MS ? "its time is the first day of the epoch" : undefined;
}

/** The layouts besides `default` that can be meant, each with the day that it gives. */
export function otherReadings(id: bigint): string[] {
  return Layout.names.flatMap((name) => {
    const layout = Layout.named(name) as Layout;
    if (name === "default" || layout.tryParse(id) === undefined || whyNot(layout, id) !== undefined) return [];
    return [`${name} ${new Date(layout.timestampOf(id)).toISOString().slice(0, 10)}`];
  });
}
