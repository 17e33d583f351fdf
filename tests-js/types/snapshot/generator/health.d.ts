import type { FrazilError } from "../base/errors.js";
import type { Backend } from "../core/boundary.js";
import type { StateFile } from "../core/state-files.js";
/** The counters of a generator. */
export interface Stats {
    readonly backend: Backend;
    /** IDs issued. */
    readonly issued: number;
    /** IDs that were reserved in advance and never issued, because their tick was over. */
    readonly dropped: number;
    /** Calls into the core that returned IDs. */
    readonly reservations: number;
    /** How often the clock was read again before a refusal. */
    readonly rechecks: number;
    /** How often no ID could be issued at once. */
    readonly stalls: number;
    /** Milliseconds that calls have waited: by a clock for asynchronous calls, and what was asked for by those that block. */
    readonly waitedMs: number;
    /** How often a reading of the clock was earlier than the one before it. */
    readonly stepsBack: number;
    /** The largest of these steps back, in milliseconds. */
    readonly largestStepBackMs: number;
    /** How often the clock went back and minting went on under another clock id. */
    readonly switches: number;
    /** The furthest that an ID was ahead of the clock, in milliseconds. */
    readonly worstLeadMs: number;
    /** How many calls had to raise the ceiling of a state file first, and waited for the disk. */
    readonly extensions: number;
}
/** Whether an ID can be issued now. */
export type Readiness = {
    /** Whether `next()` would return an ID at once. */
    readonly ok: true;
    readonly refusal: undefined;
} | {
    readonly ok: false;
    /** The error that `next()` would throw if it did not wait. */
    readonly refusal: FrazilError;
};
/** The present state of a generator. If it is not `ok`, it has a `refusal`. */
export type Health = Readiness & Condition;
/** The state of a generator whether or not an ID can be issued now. */
export interface Condition {
    /** How far the current tick is ahead of the clock, in milliseconds. */
    readonly leadMs: number;
    /** When the time field of the layout runs out. */
    readonly endsAt: Date;
    /** Milliseconds until `endsAt`; 0 after it. */
    readonly remainingMs: number;
    /**
     * Problems to look at although IDs are issued, such as a time field that runs out within a year, a clock that is not
     * trusted, or a node id on Cloudflare Workers that no lease guards.
     */
    readonly warnings: readonly string[];
    /** The state file, for a generator of `Snowflake.local()`. */
    readonly file?: StateFile;
}
