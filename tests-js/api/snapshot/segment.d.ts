import { SegmentNumbers, type SegmentOptions } from "./segment-numbers.js";
import type { SegmentStore } from "./stores/segment-store.js";
export type { AsyncOptions } from "./options.js";
export type { SegmentStats } from "./segment-holder.js";
export type { SegmentNumbers, SegmentOptions } from "./segment-numbers.js";
export type { AllocateRequest, Allocation, SegmentStore, TagOptions } from "./stores/segment-store.js";
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
