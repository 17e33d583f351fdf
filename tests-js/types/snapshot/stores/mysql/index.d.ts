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
export declare class MySqlStore extends CompareAndSetStore implements ManagedSegmentStore {
    #private;
    constructor(client: MySqlClient, options?: MySqlStoreOptions);
    migrate(): Promise<void>;
    init(options: MySqlInitOptions): Promise<boolean>;
    allocate(request: AllocateRequest): Promise<Allocation>;
    initSegment(options: TagOptions): Promise<boolean>;
    leaveOldTable(options?: {
        readonly scope?: string;
    }): Promise<void>;
}
