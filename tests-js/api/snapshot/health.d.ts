import type { Backend } from "./boundary.js";
import type { FrazilError } from "./errors.js";
import type { StateFile } from "./files.js";
/** What a generator has done so far. */
export interface Stats {
    readonly backend: Backend;
    /** IDs handed out. */
    readonly issued: number;
    /** IDs reserved ahead and never handed out, because their tick was over. */
    readonly dropped: number;
    /** Calls into the core that gave IDs. */
    readonly reservations: number;
    /** Times the clock was read once more before a refusal. */
    readonly rechecks: number;
    /** Times nothing could be issued at once. */
    readonly stalls: number;
    /** Milliseconds that calls meant to wait. */
    readonly waitedMs: number;
    /** Times the clock was seen before its last reading. */
    readonly stepsBack: number;
    /** The largest of these steps, in milliseconds. */
    readonly largestStepBackMs: number;
    /** Times the clock was followed back, to another clock id. */
    readonly switches: number;
    /** The furthest that an ID lay ahead of the clock, in milliseconds. */
    readonly worstLeadMs: number;
    /** Calls that had to raise the ceiling of a state file first, and so waited for the disk. */
    readonly extensions: number;
}
/** How a generator stands now. */
export interface Health {
    /** Whether `next()` would give an ID at once. */
    readonly ok: boolean;
    /** What `next()` would be refused with, without waiting. */
    readonly refusal: FrazilError | undefined;
    /** How far the current tick lies ahead of the clock, in milliseconds. */
    readonly leadMs: number;
    /** When the time field of the layout runs out. */
    readonly endsAt: Date;
    /** How long until then, in milliseconds; 0 once it is over. */
    readonly remainingMs: number;
    /** What should be looked at although IDs are issued: a time field that runs out within a year, a clock that is not believed. */
    readonly warnings: readonly string[];
    /** The state file, of a `Snowflake.local()`. */
    readonly file?: StateFile;
}
