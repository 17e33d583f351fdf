import { CompareAndSetStore } from "../kit/lease/compare-and-set.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../segment-store.js";
import type { MySqlClient } from "./client.js";
import { type MySqlInitOptions, type MySqlStoreOptions } from "./options.js";
export type * from "../lease-store.js";
export type * from "../segment-store.js";
export type { MySqlCallbackClient, MySqlClient, MySqlPromiseClient, MySqlStatement } from "./client.js";
export { CosIdSegments, LeafSegments, type OldSegmentsOptions, TinyidSegments } from "./old-segments.js";
export type { NodeIdsFrom } from "./old-tables.js";
export type { MySqlInitOptions, MySqlStoreOptions } from "./options.js";
/** Leases in the tables `frazil_scopes` and `frazil_leases`, and segments in `frazil_segments`. */
export declare class MySqlStore extends CompareAndSetStore implements ManagedSegmentStore {
    #private;
    /**
     * Checks what it is given. It runs no statement.
     *
     * @throws {ConfigError} `INVALID_ARGUMENT` for a client that has no `query`; `INVALID_OPTION`.
     */
    constructor(client: MySqlClient, options?: MySqlStoreOptions);
    /** As `ManagedStore.migrate`. The right to create is needed only if a table is missing. */
    migrate(): Promise<void>;
    init(options: MySqlInitOptions): Promise<boolean>;
    allocate(request: AllocateRequest): Promise<Allocation>;
    initSegment(options: TagOptions): Promise<boolean>;
    /**
     * Ends the time of the move: new node ids do not come from the table of the other generator any more, but follow its largest
     * number. Call it when no process of the other generator runs, and none can start. Holders go on.
     *
     * @throws {ConfigError} `STATE_CONFLICT` if the scope has its own node ids already.
     * @throws {LeaseError} `STORE_NOT_INITIALISED`, `STORE_REFUSED`, `STORE_UNAVAILABLE`.
     */
    leaveOldTable(options?: {
        readonly scope?: string;
    }): Promise<void>;
}
