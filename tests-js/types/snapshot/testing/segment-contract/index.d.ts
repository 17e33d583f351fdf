import { type OpenStore, type Scenario } from "../contract/counter.js";
export type { SegmentStore } from "../../stores/segment-store.js";
export { Bench, type Inability, type OpenStore, type Scenario } from "../contract/counter.js";
export interface SegmentContract {
    readonly name: string;
    open(): Promise<OpenStore>;
}
export declare const scenarios: readonly Scenario[];
export declare function whySkipped({ needs }: Scenario, opened: OpenStore): string | undefined;
export declare function segmentContract({ name, open }: SegmentContract): void;
