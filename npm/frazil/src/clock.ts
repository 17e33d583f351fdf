/** The clock. No other file of this package reads the time. */
import { ClockError, refusal } from "./errors.js";
import { Rule } from "./generated/rules.js";

/** The wall clock, in Unix milliseconds. `Date.now` is looked up at each call, so that a replacement takes effect. */
export const wallClock = (): number => Date.now();

const ownNow = /* @__PURE__ */ (() => Date.now)();

/** Whether `Date.now` was replaced since this was loaded, as by fake timers. */
export const isFaked = (): boolean => Date.now !== ownNow;

/** What the wall clock showed at 0 of the monotonic clock; 0 until that was read. */
let originMs = 0;

/**
 * Milliseconds since a fixed moment, from a clock that is never set. It stands still while the machine is suspended. Where tests took
 * `performance` away or replaced it by what shows no number, the wall clock goes on from there.
 */
export function monotonicClock(): number {
  let ms: unknown;
  try {
    ms = globalThis.performance.now();
    if (Number.isFinite(ms)) originMs ||= wallClock() - (ms as number);
  } catch {}
  return Number.isFinite(ms) ? (ms as number) : wallClock() - originMs;
}

/**
 * When the process or page started, in Unix milliseconds, rounded up; NaN if that is unknown.
 */
export function processStartMs(): number {
  const origin = globalThis.performance?.timeOrigin;
  return origin > 0 ? Math.ceil(origin) : NaN;
}

/**
 * A user's clock that throws for a value that is not a number. The core would see NaN, and could not name the value.
 */
export const checkedClock = (now: () => unknown) => (): number => {
  const ms = now();
  if (typeof ms !== "number") throw refusal(ClockError, "INVALID_CLOCK", "now", ms, Rule.FINITE_CLOCK);
  return ms;
};
