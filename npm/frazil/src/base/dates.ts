/** Times that are given as a `Date` or in Unix milliseconds. */

/** Times below this are in seconds where milliseconds are meant: seconds until 5138, and milliseconds until 1973. */
export const SECONDS_END = 1e11;
/** An epoch from here on is in seconds (2001), and so is a clock: one that shows less is one that starts in 1970. */
export const SECONDS_START = 1e9;

/**
 * Captured at load: a replacement, such as a fake clock or a method of a subclass, could return another time at each
 * call.
 */
const getTime = /* @__PURE__ */ (() => Date.prototype.getTime)();

/** The time of a `Date` of any realm; any other value unchanged. */
export function msGiven(time: unknown): unknown {
  if (typeof time !== "object") return time;
  try {
    return Reflect.apply(getTime, time, []);
  } catch {
    return time;
  }
}
