/**
 * The contract of a store of segments, as tests: every store of this package is held to it, and yours can be.
 *
 * ```js
 * import { segmentContract } from "frazil/testing/segment-contract";
 *
 * const init = (tag, first) => store.initSegment({ tag, first });
 * segmentContract({ name: "my store", open: async () => ({ store, init }) });
 * ```
 *
 * Run it with `node --test`. It runs against the real store: a double would answer as its author believes the store does.
 * Each scenario has tags of its own, and most run at the same time.
 *
 * What it cannot show: that the store keeps what it acknowledged when its host loses power.
 */
import { type OpenStore, type Scenario } from "../contract/counter.js";
export type { SegmentStore } from "../../stores/segment-store.js";
export { Bench, type Inability, type OpenStore, type Scenario } from "../contract/counter.js";
/** What the contract is held against. */
export interface SegmentContract {
    /** How the tests are called. */
    readonly name: string;
    /** Opens the store, once for all scenarios. */
    open(): Promise<OpenStore>;
}
/** All scenarios. */
export declare const scenarios: readonly Scenario[];
/** Why a scenario cannot run on a store. `undefined`: it can. */
export declare function whySkipped({ needs }: Scenario, opened: OpenStore): string | undefined;
/** Declares a test for each scenario. Those that need what the store cannot do are skipped, with the name of that. */
export declare function segmentContract({ name, open }: SegmentContract): void;
