import type { AcquireRequest, Answer, EnsureRequest, InitOptions, ManagedStore, ReleaseRequest, RenewRequest } from "../lease-store.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../segment-store.js";
import { type PostgresClient } from "./client.js";
import { type PostgresStoreOptions } from "./options.js";
export type * from "../lease-store.js";
export type * from "../segment-store.js";
export type { PostgresClient, QueryClient, UnsafeClient } from "./client.js";
export type { PostgresStoreOptions } from "./options.js";
export declare class PostgresStore implements ManagedStore, ManagedSegmentStore {
    #private;
    readonly name = "postgres";
    constructor(client: PostgresClient, options?: PostgresStoreOptions);
    waitsFor(): string | undefined;
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
