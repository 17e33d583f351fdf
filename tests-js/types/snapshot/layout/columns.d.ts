import { type Shape } from "./shape.js";
export declare const NUMBERS = "timestampMs, node, clock, sequence";
export interface Columns {
    readonly timestampMs: Float64Array;
    readonly node: Uint32Array | undefined;
    readonly clock: Uint32Array | undefined;
    readonly sequence: Float64Array;
}
export declare function columnsOf(shape: Shape, ids: BigUint64Array | BigInt64Array, into: Columns | undefined): Columns;
