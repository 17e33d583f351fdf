import { type InitOptions } from "./requests.js";
import type { AcquireRequest, Answer, EnsureRequest, LeaseStore, ReleaseRequest, RenewRequest } from "./store.js";
export type { InitOptions } from "./requests.js";
export type * from "./store.js";
/** A prepared statement of your client. */
export interface SqliteStatement {
    all(...values: never[]): unknown;
    run(...values: never[]): unknown;
}
/** Your connection: of `better-sqlite3`, `node:sqlite` or `bun:sqlite`. The store neither opens nor closes it. */
export interface SqliteDatabase {
    prepare(sql: string): SqliteStatement;
    exec(sql: string): unknown;
}
/** Leases in the tables `frazil_scopes` and `frazil_leases` of an SQLite file. */
export declare class SqliteStore implements LeaseStore {
    #private;
    readonly name = "sqlite";
    /**
     * Checks what it is given. It runs no statement.
     *
     * @throws {ConfigError} `INVALID_ARGUMENT` for something that is no connection.
     */
    constructor(database: SqliteDatabase);
    acquire(request: AcquireRequest): Promise<Answer>;
    renew(request: RenewRequest): Promise<Answer>;
    release(request: ReleaseRequest): Promise<boolean>;
    ensure(request: EnsureRequest): Promise<void>;
    /**
     * Makes the tables unless they exist. It runs DDL only, and may run at each start and in several processes at once.
     *
     * @throws {LeaseError} `STORE_REFUSED`, `STORE_UNAVAILABLE`.
     */
    migrate(): Promise<void>;
    /**
     * Writes the record of a scope, with the fence 0. Call it once for each scope, when the scope is new: never at each start,
     * since an empty store and one that has lost its rows look the same.
     *
     * @throws {ConfigError} `STATE_CONFLICT` if the scope has a record, or rows without one; `INVALID_OPTION`.
     * @throws {LeaseError} `STORE_NOT_INITIALISED` without the tables; `STORE_REFUSED`, `STORE_UNAVAILABLE`.
     */
    init(options: InitOptions): Promise<void>;
    /**
     * Raises the fence: no window of the scope begins before it has passed. Call it after the file was restored from a backup
     * or a snapshot, before any generator starts. Resolves to its time, in Unix milliseconds.
     *
     * @throws {LeaseError} `STORE_NOT_INITIALISED`, `STORE_REFUSED`, `STORE_UNAVAILABLE`.
     */
    fence(options?: {
        readonly scope?: string;
    }): Promise<number>;
}
