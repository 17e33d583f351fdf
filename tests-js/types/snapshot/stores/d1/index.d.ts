import { CompareAndSetStore } from "../kit/lease/compare-and-set.js";
import type { InitOptions } from "../lease-store.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../segment-store.js";
export type * from "../lease-store.js";
export type * from "../segment-store.js";
export interface D1Statement {
    bind(...values: (string | number | null)[]): D1Statement;
}
export interface D1Binding {
    prepare(query: string): object;
    batch(statements: never[]): Promise<readonly {
        readonly results: readonly unknown[];
    }[]>;
    readonly getBookmark?: never;
}
export declare class D1Store extends CompareAndSetStore implements ManagedSegmentStore {
    #private;
    readonly identity: object;
    constructor(database: D1Binding);
    migrate(): Promise<void>;
    init(options: InitOptions): Promise<boolean>;
    allocate(request: AllocateRequest): Promise<Allocation>;
    initSegment(options: TagOptions): Promise<boolean>;
}
