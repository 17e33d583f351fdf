import { type AsyncOptions } from "../generator/options.js";
import type { SegmentStats } from "./holder.js";
export interface SegmentOptions {
    readonly tag: string;
    readonly step?: number;
    readonly maxStep?: number;
    readonly growBelowMs?: number;
    readonly shrinkAboveMs?: number;
    readonly failoverSkip?: number;
    readonly maxAsyncWaitMs?: number;
}
export declare class SegmentNumbers {
    #private;
    readonly tag: string;
    readonly tryNext: () => bigint | undefined;
    readonly next: (options?: AsyncOptions) => Promise<bigint>;
    readonly nextString: (options?: AsyncOptions) => Promise<string>;
    readonly ready: (options?: AsyncOptions) => Promise<void>;
    readonly nextMany: (count: number, options?: AsyncOptions) => Promise<bigint[]>;
    readonly nextManyStrings: (count: number, options?: AsyncOptions) => Promise<string[]>;
    readonly fill: (target: BigUint64Array, options?: AsyncOptions) => Promise<BigUint64Array>;
    readonly stats: () => SegmentStats;
    readonly close: () => void;
    readonly [Symbol.dispose]: () => void;
}
