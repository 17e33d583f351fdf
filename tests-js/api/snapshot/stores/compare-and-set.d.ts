import { type InitOptions, type ScopeRecord } from "./requests.js";
import { type LeaseRow, type Moment, type Scope } from "./rules.js";
import type { AcquireRequest, Answer, EnsureRequest, LeaseStore, ReleaseRequest, RenewRequest } from "./store.js";
/** The record of a scope as it was read. `S` has what a later write compares, such as a version. */
export interface ScopeView<S extends Scope> {
    readonly scope: S;
    readonly moment: Moment;
}
/** The record and a row. */
export interface RowView<S extends Scope, R extends LeaseRow> extends ScopeView<S> {
    readonly row: R | undefined;
}
/** The record and what `acquire` looks for among the rows. */
export interface AcquireView<S extends Scope, R extends LeaseRow> extends ScopeView<S> {
    /** The row that has the grant of the request. */
    readonly mine: R | undefined;
    /** Rows that have ended: the preferred one first, then those with the oldest end; some 16 are enough. */
    readonly free: readonly R[];
    /** The first end of all rows. Without a row: undefined, or 0 if the scope shares its numbers with nobody. */
    readonly earliestMs: number | undefined;
}
/**
 * Where the record and the rows are. Each read is of committed data and newer than the call, and reads the clock of the store
 * after the call began. `undefined`: there is no record, or nothing to keep one in.
 */
export interface LeaseTable<S extends Scope, R extends LeaseRow> {
    readForAcquire(request: AcquireRequest): Promise<AcquireView<S, R> | undefined>;
    readRow(scope: string, node: number, signal: AbortSignal | undefined): Promise<RowView<S, R> | undefined>;
    readScope(scope: string, signal: AbortSignal | undefined): Promise<ScopeView<S> | undefined>;
    /** Where it looks for the record of a scope, in words for errors. It is asked for when there is none. */
    placeOf(scope: string, signal: AbortSignal | undefined): string | Promise<string>;
    /** As `LeaseStore.waitsFor`. */
    waitsFor?(): string | undefined;
    /** Replaces the row `seen`, if it and the record are as they were read. On disk before it resolves to `true`. */
    replaceRow(scope: string, view: ScopeView<S>, seen: R, row: LeaseRow, signal: AbortSignal | undefined): Promise<boolean>;
    /**
     * Makes the rows from `nextNode` to `last`, which were never granted, unless somebody else does. It may make fewer, and is called
     * again then.
     */
    makeRows(scope: string, view: ScopeView<S>, last: number, signal: AbortSignal | undefined): Promise<void>;
    /** Replaces the fence and the incarnation of the record, if it is as it was read. */
    replaceScope(scope: string, view: ScopeView<S>, raised: Scope, signal: AbortSignal | undefined): Promise<boolean>;
    /**
     * Writes a record with the fence 0, unless the scope has one, or rows. Resolves to what was found instead: the layout of the
     * record, or `"rows"`.
     */
    create(record: ScopeRecord): Promise<{
        readonly layout: string;
    } | "rows" | undefined>;
}
/** A store on a table. */
export declare class CompareAndSetStore<S extends Scope, R extends LeaseRow> implements LeaseStore {
    #private;
    readonly name: string;
    waitsFor(): string | undefined;
    acquire(request: AcquireRequest): Promise<Answer>;
    renew(request: RenewRequest): Promise<Answer>;
    release(request: ReleaseRequest): Promise<boolean>;
    ensure(request: EnsureRequest): Promise<void>;
    /**
     * Writes the record of a scope, with the fence 0. Call it once for each scope, when the scope is new: never at each start,
     * since an empty store and one that has lost its rows look the same.
     *
     * @throws {ConfigError} `STATE_CONFLICT` if the scope has a record, or rows without one; `INVALID_OPTION`.
     * @throws {LeaseError} `STORE_NOT_INITIALISED`, `STORE_REFUSED`, `STORE_UNAVAILABLE`.
     */
    init(options: InitOptions): Promise<void>;
    /**
     * Raises the fence: no window of the scope begins before it has passed. Call it after the store was restored from a backup
     * or a snapshot, before any generator starts. Resolves to its time, in Unix milliseconds.
     *
     * @throws {LeaseError} `STORE_NOT_INITIALISED`, `STORE_REFUSED`, `STORE_UNAVAILABLE`.
     */
    fence(options?: {
        readonly scope?: string;
    }): Promise<number>;
}
