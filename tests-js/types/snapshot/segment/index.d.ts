/**
 * Segments: plain increasing numbers (1, 2, 3 …) for a fleet of machines. A database keeps a counter for each tag, and each process
 * allocates ranges of it ahead of use, so that a number costs no round trip.
 *
 * ```js
 * import { Segment } from "frazil/segment";
 * import { PostgresStore } from "frazil/stores/postgres";
 *
 * const orders = new Segment(new PostgresStore(pool), { tag: "orders" });
 * await orders.next(); // 1n
 * ```
 */
import type { SegmentStore } from "../stores/segment-store.js";
import { SegmentNumbers, type SegmentOptions } from "./numbers.js";
export type { AsyncOptions } from "../generator/options.js";
export type { AllocateRequest, Allocation, SegmentStore, TagOptions } from "../stores/segment-store.js";
export type { SegmentStats } from "./holder.js";
export type { SegmentNumbers, SegmentOptions } from "./numbers.js";
/**
 * Hands out the numbers of a tag. They increase, and no number is handed out twice, by this process or another. They are not
 * without gaps: what a process has not handed out when it ends is lost. Every method can be called detached from the object.
 *
 * Calls that wait are served in the order in which they came. No call fails while its numbers are there: when its time is over, or
 * the store refuses, it takes them also before calls that came earlier and want more.
 *
 * Not for requests of Workers, which must not share one, since what one of them awaits ends with it: `segmented()` of
 * `frazil/workers` is.
 */
export declare class Segment extends SegmentNumbers {
    /**
     * Asks nothing of the store: the first call for a number does.
     *
     * @throws {ConfigError} `INVALID_ARGUMENT` for an object that is no store; `INVALID_OPTION`; `STATE_CONFLICT` if the store object
     * has an open segment of this tag; `WASM_UNAVAILABLE`.
     */
    constructor(store: SegmentStore, options: SegmentOptions);
}
