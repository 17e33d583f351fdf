import type { SegmentStore } from "../../stores/segment-store.js";
/**
 * What a store may be unable to do, if its form was given:
 *
 * - `"retries"`: to tell that an attempt is repeated. It then allocates another range;
 * - `"skips"`: to move a counter that has lost allocations. It then refuses to allocate;
 * - `"limits"`: to give fewer numbers than its own step for the tag has, where no count is asked for;
 * - `"tags"`: to have counters of any tag of up to 128 characters.
 */
export type Inability = "retries" | "skips" | "limits" | "tags";
/** A store that is open, and what can be done to it. The last calls are optional: without one, its scenarios are skipped. */
export interface OpenStore {
    readonly store: SegmentStore;
    /** Makes the counter of a tag with its first number, unless there is one. Resolves to whether it made it. */
    init(tag: string, first: bigint): Promise<boolean>;
    /** What the store cannot do: the scenarios about it are skipped. Default: nothing. */
    readonly lacks?: readonly Inability[];
    /** Another client of the same store, as another process has it. Default: `store`. */
    connect?(): Promise<SegmentStore>;
    close?(): Promise<void>;
    /** Gives the store another incarnation, with all of its counters, as a failover does that has lost nothing. */
    changeIncarnation?(): Promise<void>;
    /** Reads the record of a tag. Resolves to a call that puts it back, as a failover does that has lost what came after. */
    saveRecord?(tag: string): Promise<() => Promise<void>>;
}
/** What a scenario is given. */
export declare class Bench {
    readonly open: OpenStore;
    constructor(open: OpenStore);
}
/** One scenario of the contract. */
export interface Scenario {
    readonly name: string;
    /** What the store must be able to do. Without it the scenario is skipped. */
    readonly needs?: readonly (Inability | keyof Pick<OpenStore, "changeIncarnation" | "saveRecord">)[];
    /** Whether it runs alone: it changes something that all counters share, or keeps the store busy. */
    readonly alone?: boolean;
    run(bench: Bench): Promise<void>;
}
