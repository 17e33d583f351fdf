/** Times as the command line takes them: a day, a time with its zone, or Unix milliseconds. */
import { wallClock } from "../base/clock.js";
import { show } from "../base/errors.js";
import { SECONDS_END } from "../generated/layouts.js";
import type { FlagName } from "./flags.js";
import { UsageError } from "./usage-error.js";

/** ISO 8601 with a zone, or a day in UTC. Without a zone, a time would differ between machines. */
const ISO = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** Whether the month has the day: `Date` takes 30 February for 2 March. */
const isDay = (text: string): boolean => new Date(`${text}T00:00Z`).toJSON()?.startsWith(text) === true;

/** The milliseconds of a text; `undefined` if it is not a time. */
function msOf(text: string): number | undefined {
  const ms = /^-?\d+$/.test(text) ? Number(text) : ISO.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : NaN;
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** The rule for a time that stays fixed, as an epoch must. */
const RULE =
  "must be a day (2026-11-01, in UTC), a time with its zone (2026-11-01T12:00:00Z, or +01:00 for Z), or Unix milliseconds";

const refused = (flag: FlagName, text: string, rule: string) =>
  new UsageError(`--${flag} ${rule.replace(/$|\n/, (end) => `, got ${show(text)}${end}`)}`);

/** Seconds of 2001 and later, which would be milliseconds of January 1970 to 1973. */
const areSeconds = (text: string): boolean => /^\d{10,}$/.test(text) && Number(text) < SECONDS_END;

const isoOf = (ms: number) => new Date(ms).toISOString();

/** A time that stays the same, in Unix milliseconds. */
export function fixedMs(flag: FlagName, text: string): number {
  const ms = msOf(text);
  if (ms === undefined) throw refused(flag, text, RULE);
  if (areSeconds(text))
    throw refused(
      flag,
      text,
      `must be Unix milliseconds\nIf it is in seconds, write ${isoOf(ms * 1000)}, and if not, ${isoOf(ms)}`,
    );
  return ms;
}

/** The same, or now. */
export function anyMs(flag: FlagName, text: string): number {
  const ms = text === "now" ? wallClock() : msOf(text);
  if (ms === undefined)
    throw refused(flag, text, RULE.replace(", or Unix milliseconds", ", Unix milliseconds, or now"));
  return ms;
}

/** Whether a text is a time. */
export const isTime = (text: string): boolean => text === "now" || msOf(text) !== undefined;
