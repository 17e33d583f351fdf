import { type Shape } from "./shape.js";
/** The numbers in an ID. */
export declare const NUMBERS = "timestampMs, node, clock, sequence";
/** The fields of many IDs, one array for each field. */
export interface Columns {
    readonly timestampMs: Float64Array;
    readonly node: Uint32Array | undefined;
    readonly clock: Uint32Array | undefined;
    readonly sequence: Float64Array;
}
/** `Layout.decodeMany`. */
export declare function columnsOf(shape: Shape, ids: BigUint64Array | BigInt64Array, into: Columns | undefined): Columns;
