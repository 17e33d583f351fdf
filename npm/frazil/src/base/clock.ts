/** The clock. No other file of this package reads the time. */

import { Rule } from "../generated/rules.js";
import { ClockError, refusal } from "./errors.js";

/**
 * The wall clock, in Unix milliseconds. `Date.now` is looked up at each call, so that a replacement takes effect. A symbol becomes NaN:
 * comparing one throws.
 */
export const wallClock = (): number => {
  const ms: unknown = Date.now();
  return typeof ms === "symbol" ? NaN : (ms as number);
};

const ownNow = /* @__PURE__ */ (() => Date.now)();

/** Whether `Date.now` was replaced since this was loaded, as by fake timers. */
export const isFaked = (): boolean => Date.now !== ownNow;

/** The last reading of the monotonic clock. */
let lastMs = 0;
/** The reading of the wall clock then, if it stood in. */
let lastWallMs = NaN;

/**
 * Milliseconds since a fixed moment, from a clock that is never set. It stands still while the machine is suspended. If tests removed
 * `performance`, or replaced it with something that returns no such number, the wall clock continues from the last reading until
 * `performance` is back. It stands still if the wall clock is set back, or shows a number that cannot count milliseconds.
 */
export function monotonicClock(): number {
  try {
    const ms: unknown = globalThis.performance.now();
    if (Number.isFinite(ms) && (ms as number) >= 0) {
      lastWallMs = NaN;
      lastMs = ms as number;
      return lastMs;
    }
  } catch {}
  const wallMs = Number(wallClock());
  const passedMs = wallMs - lastWallMs;
  lastWallMs = wallMs;
  if (passedMs > 0 && passedMs < 2 ** 53) lastMs += passedMs;
  // NaN where the wall clock shows no number either.
  return wallMs - wallMs + lastMs;
}

/**
 * When the process or page started, in Unix milliseconds, rounded up; NaN if that is unknown.
 */
export function processStartMs(): number {
  const origin = globalThis.performance?.timeOrigin;
  return origin > 0 ? Math.ceil(origin) : NaN;
}

/**
 * A user's clock that throws for a value that is not a number. To the core it would be NaN, without the value.
 */
export const checkedClock = (now: () => unknown) => (): number => {
  const ms = now();
  if (typeof ms !== "number") throw refusal(ClockError, "INVALID_CLOCK", "now", ms, Rule.FINITE_CLOCK);
  return ms;
};
