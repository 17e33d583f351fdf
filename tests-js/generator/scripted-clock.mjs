// What the API tests share: generators on a clock that the test sets, and checks of their IDs.
import { Layout, Snowflake } from "frazil";

export const { backend } = new Snowflake({ node: 0 });
export const native = backend === "native";
export const start = 1_780_000_000_000;
/** A connection to the core of this realm: on WebAssembly by the one frame of the instance, on the addon by a new frame. */
export const port = () => globalThis[Symbol.for("frazil")].connect();

/** A private generator, and the clock it reads: `ms` is the time it shows, `reads` how often it was read. */
export function scripted(options) {
  const clock = { ms: start, reads: 0 };
  const now = () => {
    clock.reads++;
    return clock.ms;
  };
  return { clock, ids: new Snowflake({ node: 7, maxWaitMs: 0, now, ...options }) };
}

export const times = (count, call) => Array.from({ length: count }, (_, at) => call(at));
export const increasing = (ids) => ids.every((id, at) => at === 0 || ids[at - 1] < id);

/** The position of each ID counted from `start`, as tick * IDs per tick + sequence: consecutive IDs differ by 1. */
export function positions(ids, layout = Layout.named("default")) {
  const perTick = layout.plan().idsPerTick;
  return ids.map((id) => {
    const { timestampMs, sequence } = layout.decode(id);
    return ((timestampMs - start) / layout.tickMs) * perTick + sequence;
  });
}

/** `count` consecutive numbers. */
export const from = (first, count) => times(count, (at) => first + at);

/** How many of `count` IDs of `next()` came from each reservation. */
export function blockSizes(ids, count) {
  const sizes = [];
  for (let reservations = ids.stats().reservations, at = 0; at < count; at++) {
    ids.next();
    const now = ids.stats().reservations;
    if (now === reservations) sizes[sizes.length - 1]++;
    else sizes.push(1);
    reservations = now;
  }
  return sizes;
}

export const tinyLayout = {
  epochMs: 1704067200000,
  fields: [
    { kind: "time", bits: 41 },
    { kind: "node", bits: 10 },
    { kind: "sequence", bits: 2 },
  ],
};
