export interface Columns {
    readonly timestampMs: Float64Array;
    readonly node: Uint32Array | undefined;
    readonly clock: Uint32Array | undefined;
    readonly sequence: Float64Array;
}
