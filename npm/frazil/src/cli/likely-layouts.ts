/** The readings of an ID whose layout was not named. */
import { Layout } from "frazil";
import { wallClock } from "../base/clock.js";
import { readingsOf } from "../likely/layouts.js";

/** The layouts that can be meant, most likely first, each with the day that it gives. */
export const likelyReadings = (id: bigint): { readonly name: string; readonly day: string }[] =>
  readingsOf(
    id,
    Layout.names.map((name) => [name, Layout.named(name) as Layout]),
    wallClock(),
  ).map(({ name, timestampMs }) => ({ name, day: new Date(timestampMs).toISOString().slice(0, 10) }));
