/**
 * The numbers of a tag as a program takes them: `Segment`, and the segment of an isolate of Cloudflare Workers. They differ in their
 * `Supply`: how the store is asked, and how a call waits.
 */
import { type AsyncOptions } from "../generator/options.js";
import type { SegmentStats } from "./holder.js";
/** The options of a segment. */
export interface SegmentOptions {
    /** The name of the counter, as it was given to `store.initSegment()`: 1 to 128 characters. */
    readonly tag: string;
    /**
     * How many numbers a range has at least. Default: what the store has for the tag, or else 1000. A process that ends leaves at
     * most two ranges unused.
     */
    readonly step?: number;
    /**
     * How many numbers a range has at most. Default: 1,000,000, or `step` if that is more. A step that a row of Leaf or Tinyid has stays,
     * also if it is more.
     */
    readonly maxStep?: number;
    /** A range that lasts less than this is followed by one twice as long, in milliseconds. Default: 900,000 (15 minutes). */
    readonly growBelowMs?: number;
    /** A range that lasts more than this is followed by one half as long, in milliseconds. Default: 1,800,000 (30 minutes). */
    readonly shrinkAboveMs?: number;
    /**
     * How many numbers the store skips at least, and up to twice as many, when it is another one than before (a failover, a restore) or
     * has lost an allocation. A larger loss repeats numbers. Default: ten times `maxStep`. The tables of other generators have no room
     * for it: no effect there.
     */
    readonly failoverSkip?: number;
    /** How long a call may wait for numbers in all, in milliseconds. Default: 5000. */
    readonly maxAsyncWaitMs?: number;
}
/**
 * Hands out the numbers of a tag. They increase, and no number is handed out twice, by this process or another. They are not
 * without gaps: what a process has not handed out when it ends is lost. Every method can be called detached from the object.
 */
export declare class SegmentNumbers {
    #private;
    /** The name of the counter. */
    readonly tag: string;
    /**
     * The next number if one is there, else `undefined`: it never waits. The store is asked for more in the background.
     *
     * @throws {ConfigError} `CLOSED`.
     * @throws {ClockError} `INVALID_CLOCK` where a program has replaced `performance.now` and `Date.now` by clocks that show no number.
     */
    readonly tryNext: () => bigint | undefined;
    /**
     * The next number. Waits for the store at most `maxAsyncWaitMs`, and only if it has not answered in time for what was used.
     *
     * Rejects with `SEGMENT_EXHAUSTED` with `retryAfterMs` and the cause, if the store is away for longer than what was allocated
     * lasts; with `STORE_NOT_INITIALISED` or `STORE_REFUSED` as soon as the store says so; with the reason of the signal; with `CLOSED`.
     */
    readonly next: (options?: AsyncOptions) => Promise<bigint>;
    /** The next number as decimal text. Waits and rejects as `next`. */
    readonly nextString: (options?: AsyncOptions) => Promise<string>;
    /** Resolves when a number is there, so that `tryNext()` returns one. Waits and rejects as `next`. */
    readonly ready: (options?: AsyncOptions) => Promise<void>;
    /**
     * An array of `count` numbers, 0 to 1,048,576. They increase, and need not follow each other. Waits and rejects as `next`; then
     * no number is lost.
     */
    readonly nextMany: (count: number, options?: AsyncOptions) => Promise<bigint[]>;
    /** As `nextMany`, the numbers as decimal texts. */
    readonly nextManyStrings: (count: number, options?: AsyncOptions) => Promise<string[]>;
    /** Fills the array with numbers, at most 1,048,576. Waits and rejects as `nextMany`. */
    readonly fill: (target: BigUint64Array, options?: AsyncOptions) => Promise<BigUint64Array>;
    /** Counters, and why the store was not reached at the last attempt. */
    readonly stats: () => SegmentStats;
    /** Ends it. What is left of its ranges is never handed out, and calls that wait reject with `CLOSED`. */
    readonly close: () => void;
    /** `close()`, for `using`. */
    readonly [Symbol.dispose]: () => void;
}
