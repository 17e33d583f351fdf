// A leased generator on fake time, with what happened to it.

import { lease } from "frazil/lease";
import { time } from "./faked.mjs";
import { FaultyStore } from "./faulty-store.mjs";

/** The default window, in milliseconds. */
export const W = 30_000;
export const never = () => new Promise(() => {});

/** The clock of a store whose host shows true time. */
const storeClock =
  (aheadMs = 0) =>
  () =>
    Math.floor(time.wallStartMs + time.ms + aheadMs);

export const storeWith = ({ aheadMs = 0, ...options } = {}) =>
  FaultyStore.with({ now: storeClock(aheadMs), ...options });

/** Opens a lease, and records its events in the order in which they come. */
export async function open(store, options) {
  const ids = await time.until(lease(store, options));
  const events = [];
  for (const event of ["acquired", "renewed", "lost", "refused"])
    ids.on(event, (detail) => events.push([event, detail.code ?? detail]));
  return {
    ids,
    events,
    names: () => events.map(([name, detail]) => (typeof detail === "string" ? `${name} ${detail}` : name)),
  };
}

export const verbs = (store) => store.calls.map(({ verb }) => verb);

/** The error that a call throws. */
export function thrownBy(call) {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

/** A promise, what it came to, and when. */
export function watched(promise) {
  const watch = { promise, state: "pending", atMs: Number.NaN };
  promise.then(
    (value) => Object.assign(watch, { state: "resolved", value, atMs: time.ms }),
    (error) => Object.assign(watch, { state: "rejected", error, atMs: time.ms }),
  );
  return watch;
}

/** Gives the row of a node id to another holder. */
export function takeAway(store, node, forMs = 30_000) {
  const row = store.rows().get(node);
  const fromMs = Math.max(row.untilMs, store.now());
  store
    .rows()
    .set(node, { node, fromMs, untilMs: fromMs + forMs, grant: "e".repeat(32), nonce: "e".repeat(32), owner: "thief" });
}
