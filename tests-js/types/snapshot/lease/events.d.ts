/** What a leased generator tells of its lease: events, counters, its condition. */
import { type FrazilError } from "../base/errors.js";
/** A lease that is held. */
export interface LeaseWindow {
    /** The node id; 0 for a layout without a node field. */
    readonly node: number;
    /** The start of the window, in Unix milliseconds of the store's clock. No ID has an earlier time. */
    readonly fromMs: number;
    /** The end of the window. No ID has this time or a later one. */
    readonly untilMs: number;
}
/** The events of a leased generator. */
export interface LeaseEvents {
    /** A lease began: IDs have this node id from now on. */
    readonly acquired: (lease: LeaseWindow) => void;
    /** The window was extended. */
    readonly renewed: (lease: LeaseWindow) => void;
    /** The lease ended, and another one is asked for. */
    readonly lost: (error: FrazilError) => void;
    /** An attempt failed or was refused. The next one follows by itself. */
    readonly refused: (error: FrazilError) => void;
}
/** Counters of a lease, over all node ids that it had. */
export interface LeaseStats {
    /** Requests to the store: to acquire, to renew, and to fence it. */
    readonly attempts: number;
    readonly acquired: number;
    readonly renewed: number;
    readonly lost: number;
    /** Attempts that failed or were refused. */
    readonly refused: number;
}
/** The condition of a lease. */
export interface LeaseHealth {
    readonly scope: string;
    /** How the store is called. */
    readonly store: string;
    /** Absent while no lease is held. */
    readonly node?: number;
    readonly fromMs?: number;
    readonly untilMs?: number;
    /** How many attempts failed in a row. */
    readonly failures: number;
    /** Why the last of them failed. */
    readonly problem?: FrazilError;
    /** How long until the store may have answered, in milliseconds. */
    readonly nextMs: number;
    /**
     * How far the clock of this machine was ahead of the store's at the last answer, in milliseconds; negative if it was
     * behind. At the length of the window nothing can be minted.
     */
    readonly skewMs: number;
}
