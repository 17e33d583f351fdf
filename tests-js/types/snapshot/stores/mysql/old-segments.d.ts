import type { AllocateRequest, Allocation, SegmentStore } from "../segment-store.js";
import type { MySqlClient } from "./client.js";
export interface OldSegmentsOptions {
    readonly database?: string;
    readonly table?: string;
    readonly binlog?: "synced" | "unsynced-accepting-repeats-after-crash";
}
declare class OldSegments implements SegmentStore {
    #private;
    readonly name: string;
    allocate(request: AllocateRequest): Promise<Allocation>;
}
export declare class LeafSegments extends OldSegments {
    constructor(client: MySqlClient, options?: OldSegmentsOptions);
}
export declare class TinyidSegments extends OldSegments {
    constructor(client: MySqlClient, options?: OldSegmentsOptions);
}
export declare class CosIdSegments extends OldSegments {
    constructor(client: MySqlClient, options?: OldSegmentsOptions);
}
export {};
