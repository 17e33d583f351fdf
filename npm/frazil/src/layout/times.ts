/** Times from a program: the hint for a bad one, and times that may be outside the range of a layout. */
import { msGiven } from "../base/dates.js";
import { DecodeError, isWhole, refusal } from "../base/errors.js";
import { describedError } from "../base/value-text.js";
import { Rule } from "../generated/rules.js";

/** The hint for a value that is not a time, or is in another unit. */
export function timeHint(time: unknown, isInSeconds?: (seconds: number) => boolean): string {
  if (typeof time === "string") return "\nPass new Date(text).";
  if (Number.isNaN(time)) return "\nLook at what the Date was made from.";
  // The rule of an epoch names both.
  if (isInSeconds === undefined) return "";
  if (typeof time !== "number") return "\nA Date is accepted too.";
  return isInSeconds(Math.floor(time)) ? "\nIs it in seconds?" : "";
}

/** A time that need not be in the range of a layout, in Unix milliseconds. */
export function anyMs(field: string, time: unknown, isInSeconds: (ms: number) => boolean): number {
  const ms = msGiven(time);
  const limit = Number.MAX_SAFE_INTEGER;
  if (isWhole(ms, -limit, limit)) {
    if (isInSeconds(ms)) throw refusal(DecodeError, "TIME_OUT_OF_RANGE", field, ms, Rule.NOT_SECONDS);
    return ms;
  }
  throw describedError("TIME_OUT_OF_RANGE", field, time, Rule.TIME_RANGE + timeHint(ms, isInSeconds), -limit, limit);
}
