import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../stores/segment-store.js";
export interface SavedTag {
    readonly next: bigint;
    readonly incarnation: string;
    readonly recent: readonly {
        readonly holder: string;
        readonly attempt: string;
        readonly first: bigint;
        readonly count: number;
    }[];
}
export type SavedSegments = ReadonlyMap<string, SavedTag>;
export declare class MemorySegmentStore implements ManagedSegmentStore {
    #private;
    readonly name = "memory";
    constructor();
    initSegment(options: TagOptions): Promise<boolean>;
    allocate(request: AllocateRequest): Promise<Allocation>;
    save(): SavedSegments;
    restore(saved: SavedSegments): void;
    failOver(): void;
}
