/**
 * For the tests of a program: IDs that are the same in each run, a clock that only the test moves, and stores of leases and of segments in
 * memory. All are refused in production, that is, if `NODE_ENV` is `"production"`. No other entry of the package contains them.
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
export type * from "../stores/lease-store.js";
export type * from "../stores/segment-store.js";
export { type ManualClock, manualClock } from "./manual-clock.js";
export {
  MemoryLeaseStore,
  type MemoryLeaseStoreOptions,
  type MemoryRow,
  type SavedLeases,
  type SavedScope,
} from "./memory-lease-store.js";
export { MemorySegmentStore, type SavedSegments, type SavedTag } from "./memory-segment-store.js";
export { type SeededIdsOptions, seededIds } from "./seeded-ids.js";
