import type { AcquireRequest, Answer, EnsureRequest, InitOptions, ManagedStore, ReleaseRequest, RenewRequest } from "../stores/lease-store.js";
export interface MemoryLeaseStoreOptions {
    readonly now?: () => number;
}
export interface MemoryRow {
    readonly node: number;
    readonly fromMs: number;
    readonly untilMs: number;
    readonly grant: string | null;
    readonly nonce: string | null;
    readonly owner: string | null;
}
export interface SavedScope {
    readonly layout: string;
    readonly nodeFrom: number;
    readonly nodeTo: number;
    readonly nextNode: number;
    readonly windowMaxMs: number;
    readonly fenceMs: number;
    readonly incarnation: string;
    readonly rows: ReadonlyMap<number, MemoryRow>;
}
export type SavedLeases = ReadonlyMap<string, SavedScope>;
export declare class MemoryLeaseStore implements ManagedStore {
    #private;
    readonly name = "memory";
    constructor(options?: MemoryLeaseStoreOptions);
    init(options: InitOptions): Promise<boolean>;
    fence(options?: {
        readonly scope?: string;
    }): Promise<number>;
    acquire(request: AcquireRequest): Promise<Answer>;
    renew(request: RenewRequest): Promise<Answer>;
    release(request: ReleaseRequest): Promise<boolean>;
    ensure(request: EnsureRequest): Promise<void>;
    rows(scope?: string): Map<number, MemoryRow>;
    save(): SavedLeases;
    restore(saved: SavedLeases): void;
    failOver(): void;
}
