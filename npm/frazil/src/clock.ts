/** The time: the only file of this package that asks for it. */
import { ClockError, refusal } from "./errors.js";
import { Rule } from "./generated/rules.js";

/** The wall clock, in Unix milliseconds. Looked up at each call, so that a replaced `Date.now` counts. */
export const wallClock = (): number => Date.now();

/**
 * When the process (or page) started, in Unix milliseconds, rounded up; NaN where that is not known.
 *
 * On Workers `timeOrigin` is 0: an isolate has no start time.
 */
export function processStartMs(): number {
  const origin = globalThis.performance?.timeOrigin;
  return origin > 0 ? Math.ceil(origin) : NaN;
}

/** A clock whose values are numbers: what is none is refused as it is, since NaN in its place would not say what it was. */
export const checkedClock = (now: () => unknown) => (): number => {
  const ms = now();
  if (typeof ms !== "number") throw refusal(ClockError, "INVALID_CLOCK", "now", ms, Rule.FINITE_CLOCK);
  return ms;
};
