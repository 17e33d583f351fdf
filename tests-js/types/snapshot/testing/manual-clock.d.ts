/** 2025-01-01T00:00:00.000Z: where the time of tests starts, in Unix milliseconds. */
export declare const START_MS = 1735689600000;
/** A clock that stands still until the test moves it. Its calls work detached. */
export interface ManualClock {
    /** The time that it shows, in Unix milliseconds. A new value sets it, forward or back. */
    nowMs: number;
    /** The same as a function: the option `now` of `new Snowflake()`. */
    readonly now: () => number;
    /** Moves it forward, and returns the time that it shows then. */
    readonly advance: (ms: number) => number;
}
/**
 * A clock for tests that shows 2025-01-01T00:00:00.000Z, or the time that it is given (a `Date` or Unix milliseconds), until it is moved.
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
export declare function manualClock(startMs?: number | Date): ManualClock;
