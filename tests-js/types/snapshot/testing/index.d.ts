/**
 * For the tests of a program: IDs that are the same in each run, and a clock that only the test moves. Both are refused in production,
 * which is where `NODE_ENV` is `"production"`. No other entry of the package contains them.
 *
 * ```js
 * import { Snowflake } from "frazil";
 * import { manualClock, seededIds } from "frazil/testing";
 *
 * const ids = seededIds();
 * ids.next(); // the same ID in each run
 *
 * const clock = manualClock();
 * const own = new Snowflake({ node: 7, now: clock.now });
 * clock.advance(60_000);
 * ```
 */
export { type ManualClock, manualClock } from "./manual-clock.js";
export { type SeededIdsOptions, seededIds } from "./seeded-ids.js";
