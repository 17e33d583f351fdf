/** A clock that only the test moves. */
import { msGiven } from "../base/dates.js";
import { describedError } from "../base/value-text.js";
import { Rule } from "../generated/rules.js";
import { refuseProduction } from "./production.js";

/** 2025-01-01T00:00:00.000Z: the start of time in tests, in Unix milliseconds. */
export const START_MS = 1_735_689_600_000;

/** A clock that stands still until the test moves it. Its calls work detached. */
export interface ManualClock {
  /** The time that it shows, in Unix milliseconds. A new value sets it, forward or back. */
  nowMs: number;
  /** The same as a function: the option `now` of `new Snowflake()`. */
  readonly now: () => number;
  /** Moves it forward, and returns the new time. */
  readonly advance: (ms: number) => number;
}

function checkedMs(field: string, ms: unknown, min: number, rule: string): number {
  if (typeof ms === "number" && Number.isFinite(ms) && ms >= min) return ms;
  throw describedError("INVALID_ARGUMENT", field, ms, rule);
}

/**
 * A clock for tests that shows 2025-01-01T00:00:00.000Z, or the given time (a `Date` or Unix milliseconds), until it is moved.
 *
 * ```js
 * const clock = manualClock();
 * const ids = new Snowflake({ node: 7, now: clock.now });
 * ids.decode(ids.next()).date; // 2025-01-01T00:00:00.000Z
 * clock.advance(60_000);
 * ids.decode(ids.next()).date; // 2025-01-01T00:01:00.000Z
 * ```
 *
 * @throws {ConfigError} `INVALID_OPTION` if `NODE_ENV` is `"production"`. `INVALID_ARGUMENT` for a time that is not a finite number,
 * here and when the clock is set, and for a step back of `advance()`; the clock stays as it is.
 */
export function manualClock(startMs: number | Date = START_MS): ManualClock {
  refuseProduction("manualClock()");
  const checkedTime = (field: string, ms: unknown, rule: string = Rule.FINITE_CLOCK) =>
    checkedMs(field, ms, -Infinity, rule);
  const startsAt = msGiven(startMs);
  let nowMs = checkedTime("startMs", Number.isNaN(startsAt) ? startMs : startsAt, `${Rule.FINITE_CLOCK}, or a Date`);
  return {
    get nowMs() {
      return nowMs;
    },
    set nowMs(ms) {
      nowMs = checkedTime("nowMs", ms);
    },
    now: () => nowMs,
    advance(ms) {
      const stepMs = checkedMs(
        "ms",
        ms,
        0,
        "must be a finite number of milliseconds, 0 or more\nTo go back, set clock.nowMs.",
      );
      nowMs = checkedTime("nowMs", nowMs + stepMs);
      return nowMs;
    },
  };
}
