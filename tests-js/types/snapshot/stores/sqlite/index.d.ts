import type { AcquireRequest, Answer, EnsureRequest, InitOptions, ManagedStore, ReleaseRequest, RenewRequest } from "../lease-store.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../segment-store.js";
export type * from "../lease-store.js";
export type * from "../segment-store.js";
export interface SqliteStatement {
    all(...values: never[]): unknown;
    run(...values: never[]): unknown;
}
export interface SqliteDatabase {
    prepare(sql: string): SqliteStatement;
    exec(sql: string): unknown;
}
export declare class SqliteStore implements ManagedStore, ManagedSegmentStore {
    #private;
    readonly name = "sqlite";
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
