import { type FrazilError } from "../base/errors.js";
/** Counters of a segment. */
export interface SegmentStats {
    /** How many numbers are there to hand out. */
    readonly left: number;
    /** How many ranges they are in: at most two, unless one call wants more than they have. */
    readonly buffers: number;
    /** How many numbers the next range is asked to have. Absent before the first answer of a store that decides it. */
    readonly step?: number;
    /** How many ranges the store allocated, and how many numbers they had. */
    readonly ranges: number;
    readonly allocated: number;
    /** Requests to the store: attempts and their retries. */
    readonly tries: number;
    /** How many of them failed in a row. */
    readonly failures: number;
    /** Why the last one failed, until one succeeds. */
    readonly problem?: FrazilError;
    /** How long the store takes to answer, in milliseconds: the longest of the last answers. */
    readonly fetchMs: number;
    /** How many calls found no number and waited. */
    readonly waits: number;
    /** Whether `close()` was called. */
    readonly closed: boolean;
}
