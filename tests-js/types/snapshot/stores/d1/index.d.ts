import { CompareAndSetStore } from "../kit/lease/compare-and-set.js";
import type { InitOptions } from "../lease-store.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../segment-store.js";
export type * from "../lease-store.js";
export type * from "../segment-store.js";
/** A prepared statement. */
export interface D1Statement {
    bind(...values: (string | number | null)[]): D1Statement;
}
/** The binding to the database: `env.DB`, a `D1Database` of `wrangler types` or of `@cloudflare/workers-types`. */
export interface D1Binding {
    prepare(query: string): object;
    batch(statements: never[]): Promise<readonly {
        readonly results: readonly unknown[];
    }[]>;
    /** What only a session has, which may read from a replica: it is refused. */
    readonly getBookmark?: never;
}
/** Leases in the tables `frazil_scopes` and `frazil_leases`, and segments in `frazil_segments`, of a D1 database. */
export declare class D1Store extends CompareAndSetStore implements ManagedSegmentStore {
    #private;
    /** The database. */
    readonly identity: object;
    /**
     * Checks what it is given. It runs no statement.
     *
     * @throws {ConfigError} `INVALID_ARGUMENT` for something that is no database.
     */
    constructor(database: D1Binding);
    migrate(): Promise<void>;
    /** As for every store, but that the longest window is 10 minutes unless it is given. */
    init(options: InitOptions): Promise<boolean>;
    allocate(request: AllocateRequest): Promise<Allocation>;
    initSegment(options: TagOptions): Promise<boolean>;
}
