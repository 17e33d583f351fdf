import type { SegmentStore } from "../../stores/segment-store.js";
export type Inability = "retries" | "skips" | "limits" | "tags";
export interface OpenStore {
    readonly store: SegmentStore;
    init(tag: string, first: bigint): Promise<boolean>;
    readonly lacks?: readonly Inability[];
    connect?(): Promise<SegmentStore>;
    close?(): Promise<void>;
    changeIncarnation?(): Promise<void>;
    saveRecord?(tag: string): Promise<() => Promise<void>>;
}
export declare class Bench {
    readonly open: OpenStore;
    constructor(open: OpenStore);
}
export interface Scenario {
    readonly name: string;
    readonly needs?: readonly (Inability | keyof Pick<OpenStore, "changeIncarnation" | "saveRecord">)[];
    readonly alone?: boolean;
    run(bench: Bench): Promise<void>;
}
