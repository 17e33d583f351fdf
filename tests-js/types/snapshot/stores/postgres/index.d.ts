import { type AcquireRequest, type Answer, type EnsureRequest, type InitOptions, type ManagedStore, type ReleaseRequest, type RenewRequest } from "../lease-store.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../segment-store.js";
import { type PostgresClient } from "./client.js";
export type * from "../lease-store.js";
export type * from "../segment-store.js";
export type { PostgresClient, QueryClient, UnsafeClient } from "./client.js";
/** The options of a `PostgresStore`. */
export interface PostgresStoreOptions {
    /** The schema of the tables. Default: the search path of the connection. */
    readonly schema?: string;
    /**
     * How a server is told from the one that replaced it after a failover.
     *
     * - `"postgres"` (default): the system identifier, the timeline, and the OIDs of the database and of the table of scopes. Segments: the
     *   first two.
     * - `"postgres-with-start"`: besides, when the server was started. An old primary that is started again, or a copy of its folder, is
     *   then another one; and each restart raises a fence.
     * - `{ sql }`: an SQL expression of your own, whose value changes whenever acknowledged writes may have been lost.
     * - `"none-accepting-repeats-after-failover"`: not at all. If a standby is promoted that lacks the last writes, IDs repeat.
     */
    readonly incarnation?: "postgres" | "postgres-with-start" | {
        readonly sql: string;
    } | "none-accepting-repeats-after-failover";
}
/** Leases in the tables `frazil_scopes` and `frazil_leases`, and segments in `frazil_segments`. */
export declare class PostgresStore implements ManagedStore, ManagedSegmentStore {
    #private;
    readonly name = "postgres";
    /**
     * Checks what it is given. It runs no statement.
     *
     * @throws {ConfigError} `INVALID_ARGUMENT` for a client that has no `query`; `INVALID_OPTION`.
     */
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
