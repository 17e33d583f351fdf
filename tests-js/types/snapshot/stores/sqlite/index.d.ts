import type { AcquireRequest, Answer, EnsureRequest, InitOptions, ManagedStore, ReleaseRequest, RenewRequest } from "../lease-store.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../segment-store.js";
export type * from "../lease-store.js";
export type * from "../segment-store.js";
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
/** Leases in the tables `frazil_scopes` and `frazil_leases` of an SQLite file, and segments in `frazil_segments`. */
export declare class SqliteStore implements ManagedStore, ManagedSegmentStore {
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
    migrate(): Promise<void>;
    init(options: InitOptions): Promise<boolean>;
    allocate(request: AllocateRequest): Promise<Allocation>;
    initSegment(options: TagOptions): Promise<boolean>;
    fence(options?: {
        readonly scope?: string;
    }): Promise<number>;
}
