/** Times given as a `Date` or in Unix milliseconds. */

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
