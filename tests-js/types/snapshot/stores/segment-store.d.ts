import type { HostAbortSignal } from "../base/host-types.js";
export interface AllocateRequest {
    readonly tag: string;
    readonly count: number | undefined;
    readonly maxCount: number;
    readonly above: bigint;
    readonly failoverSkip: number;
    readonly holder: string;
    readonly attempt: string;
    readonly signal?: HostAbortSignal | undefined;
}
export interface Allocation {
    readonly attempt: string;
    readonly first: bigint;
    readonly count: number;
    readonly stride?: number;
    readonly step?: number;
}
export interface SegmentStore {
    readonly name: string;
    readonly identity?: object;
    allocate(request: AllocateRequest): Promise<Allocation>;
    waitsFor?(): string | undefined;
}
export interface ManagedSegmentStore extends SegmentStore {
    initSegment(options: TagOptions): Promise<boolean>;
}
export interface TagOptions {
    readonly tag: string;
    readonly first?: bigint | number;
}
