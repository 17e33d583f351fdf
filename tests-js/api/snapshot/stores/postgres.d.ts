import { type InitOptions } from "./requests.js";
import { type AcquireRequest, type Answer, type EnsureRequest, type LeaseStore, type ReleaseRequest, type RenewRequest } from "./store.js";
export type { InitOptions } from "./requests.js";
export type * from "./store.js";
/** What a client with `query` can be: a `Pool` or `Client` of `pg`, PGlite, Neon. */
export interface QueryClient {
    query(text: string, values: unknown[]): PromiseLike<unknown>;
}
/** What the client of the package `postgres` can do. */
export interface UnsafeClient {
    unsafe(text: string, values: never[]): PromiseLike<unknown>;
}
/** Your client: of `pg`, `postgres`, PGlite or Neon. The store neither opens nor closes it. */
export type PostgresClient = QueryClient | UnsafeClient;
/** The options of a `PostgresStore`. */
export interface PostgresStoreOptions {
    /** The schema of the tables. Default: the search path of the connection. */
    readonly schema?: string;
    /**
     * How a server is told from the one that replaced it after a failover.
     *
     * - `"postgres"` (default): the system identifier and the timeline.
     * - `{ sql }`: an SQL expression of your own, whose value changes whenever acknowledged writes may have been lost.
     * - `"none-accepting-repeats-after-failover"`: not at all. If a standby is promoted that lacks the last writes, IDs repeat.
     */
    readonly incarnation?: "postgres" | {
        readonly sql: string;
    } | "none-accepting-repeats-after-failover";
}
/** Leases in the tables `frazil_scopes` and `frazil_leases`. */
export declare class PostgresStore implements LeaseStore {
    #private;
    readonly name = "postgres";
    /**
     * Checks what it is given. It runs no statement.
     *
     * @throws {ConfigError} `INVALID_ARGUMENT` for a client that has no `query`; `INVALID_OPTION`.
     */
    constructor(client: PostgresClient, options?: PostgresStoreOptions);
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
     * Raises the fence: no window of the scope begins before it has passed. Call it after the database was restored from a
     * backup or a snapshot, before any generator starts. Resolves to its time, in Unix milliseconds.
     *
     * @throws {LeaseError} `STORE_NOT_INITIALISED`, `STORE_REFUSED`, `STORE_UNAVAILABLE`.
     */
    fence(options?: {
        readonly scope?: string;
    }): Promise<number>;
}
