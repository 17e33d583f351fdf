/**
 * The rules of `LeaseStore` as pure functions of a record and its rows, for stores that read, decide in this process, and
 * write: in a transaction, or on condition that nobody else has written meanwhile. Stores that decide in the database have
 * the same rules in their statements.
 */
import { type AcquireRequest, type Answer, type ReleaseRequest, type RenewRequest } from "./store.js";
/** How far beyond the rows that exist a preferred node id may lie: all rows before it are made as well. */
export declare const REACH = 1024;
/** The incarnation of a record that nobody has used yet: `ensure` sets it without a fence, since nothing was granted. */
export declare const UNUSED = "";
/** The record of a scope. */
export interface Scope {
    readonly layout: string;
    readonly nodeTo: number;
    /** Rows are made for the node ids below, and never again: a row that was deleted is not a new one. */
    readonly nextNode: number;
    readonly windowMaxMs: number;
    readonly fenceMs: number;
    readonly incarnation: string;
    /**
     * Who else draws node ids from the same numbers, in words for errors: another generator, for its own processes. The next new
     * one is then whatever comes next there, so a preferred node id is taken only if its row exists.
     */
    readonly sharedWith?: string;
}
/** The row of a node id. One that was never granted begins and ends at 0. */
export interface LeaseRow {
    readonly node: number;
    readonly fromMs: number;
    readonly untilMs: number;
    /** `null`: released, or never granted. */
    readonly grant: string | null;
    readonly nonce: string | null;
    readonly owner: string | null;
}
/** The store at this moment. */
export interface Moment {
    readonly nowMs: number;
    readonly incarnation: string;
}
/** What `acquire` looks for among the rows. Each is called at most once, and only if it matters. */
export interface Rows {
    /** The row with the grant of the request. */
    mine(): LeaseRow | undefined;
    /** The preferred row if it has ended, else the one with the oldest end, if that has passed. */
    free(): LeaseRow | undefined;
    /** The first end of all rows. Without a row: undefined, or 0 if the scope shares its numbers with nobody. */
    earliestMs(): number | undefined;
}
/** What an operation comes to: an answer, which may need a row to be written first. */
export interface Decision {
    readonly answer: Answer;
    readonly row?: LeaseRow;
}
/** Rows are missing: those up to this node id are to be made, and then it is decided once more. */
export interface RowsNeeded {
    readonly makeTo: number;
}
/** `acquire`. Invariant: a window begins at the largest `until` that its row ever had, or at the fence. */
export declare function decideAcquire(scope: Scope, rows: Rows, request: AcquireRequest, moment: Moment): Decision | RowsNeeded;
/** `renew`. Invariant: `until` only moves forward; of two holders that know the grant, one finds a nonce that it does not know. */
export declare function decideRenew(scope: Scope, row: LeaseRow | undefined, request: RenewRequest, moment: Moment): Decision;
/**
 * `release`: the row without its grant, or `undefined` if it is not to be released. Invariant: a late renewal fails; a row that
 * a clone of the holder has renewed stays.
 */
export declare function decideRelease(row: LeaseRow | undefined, request: ReleaseRequest): LeaseRow | undefined;
/** When the fence of a scope is raised, besides for another incarnation. */
export type FenceCause = "changed" | "behind" | "always";
/** `ensure` and `fence`: the record with a raised fence, or `undefined` if it stays. Invariant: the fence only grows. */
export declare function decideFence(scope: Scope, cause: FenceCause, { nowMs, incarnation }: Moment): Scope | undefined;
