/** The readings of an ID besides that of `default`, as a text. */
import { Layout } from "frazil";
import { wallClock } from "../base/clock.js";
import { readingsOf } from "../likely/layouts.js";

/** The layouts besides `default` that can be meant, most likely first, each with the day that it gives. */
export const otherReadings = (id: bigint): string[] =>
  readingsOf(
    id,
    Layout.names.filter((name) => name !== "default").map((name) => [name, Layout.named(name) as Layout]),
    wallClock(),
  ).map(({ name, timestampMs }) => `${name} ${new Date(timestampMs).toISOString().slice(0, 10)}`);
