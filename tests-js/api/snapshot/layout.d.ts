import { type Decoded } from "./decoded.js";
import type { LayoutParts } from "./generated/layouts.js";
import { type IdInput, type LayoutField, type LayoutName, type LayoutSpec } from "./id.js";
export type { Decoded } from "./decoded.js";
export type { FieldKind, IdInput, LayoutField, LayoutName, LayoutSpec } from "./id.js";
/** A layout by name, as its parts, or made already. */
export type LayoutInput = LayoutName | LayoutSpec | Layout<string>;
/** The names of the node parts of a layout, for typing `node` and `parts`. */
export type PartsOf<L> = L extends LayoutName ? LayoutParts[L] : L extends Layout<infer P> ? P : L extends {
    readonly fields: readonly (infer F)[];
} ? F extends {
    readonly kind: "node";
    readonly name: infer N extends string;
} ? N : F extends {
    readonly kind: "node";
} ? "node" : never : string;
/** A node id as one number or by the names of its parts. */
export type NodeInput<P extends string = string> = number | {
    readonly [K in P]: number;
};
/** What `compose` makes an ID of. */
export interface Composition<P extends string = string> {
    /** Unix milliseconds of the start of a tick. */
    readonly timestampMs: number | Date;
    /** The node id, where the layout has one. */
    readonly node?: NodeInput<P> | undefined;
    /** The clock id, where the layout has one. */
    readonly clock?: number | undefined;
    readonly sequence: number;
}
/** What a layout can hold. */
export interface Plan {
    /** The last time that an ID can carry. */
    readonly lastDate: Date;
    /** The last time whose IDs are positive in a signed 64-bit column; `undefined` where that does not depend on time. */
    readonly signedUntil: Date | undefined;
    /** Whether the IDs of one generator strictly increase: time above clock above sequence. */
    readonly ordered: boolean;
    /** How many node ids there are; 1 without a node field. */
    readonly nodes: number;
    /** How many IDs one node can issue in a tick. */
    readonly idsPerTick: number;
    /** How many IDs one node can issue in a second. */
    readonly idsPerSecond: number;
}
/** The fields of many IDs. */
export interface Columns {
    readonly timestampMs: Float64Array;
    readonly node: Uint32Array | undefined;
    readonly clock: Uint32Array | undefined;
    readonly sequence: Float64Array;
}
/**
 * What the 64 bits of an ID mean: fields in order, the epoch, and the length of a tick.
 *
 * ```js
 * Layout.named("discord").decode("175928847299117063").date; // 2016-04-30T11:18:25.796Z
 * ```
 */
export declare class Layout<P extends string = string> {
    #private;
    /** Unix milliseconds of tick 0. */
    readonly epochMs: number;
    /** The length of a tick in milliseconds. */
    readonly tickMs: number;
    /** Whether the fields may use all 64 bits. */
    readonly unsigned: boolean;
    /** The fields, from the most to the least significant. */
    readonly fields: readonly LayoutField[];
    /**
     * Checks a layout and makes it.
     *
     * @throws {ConfigError} `INVALID_LAYOUT` with the field, the value and the rule.
     */
    constructor(spec: LayoutSpec);
    /**
     * A built-in layout.
     *
     * @throws {ConfigError} `INVALID_LAYOUT` for a name that is none of `Layout.names`.
     */
    static named<N extends LayoutName>(name: N): Layout<LayoutParts[N]>;
    /** The names that `Layout.named` knows. */
    static get names(): readonly LayoutName[];
    /** The same layout with some of its parts changed, such as `{ epochMs }`. */
    with(changes: Partial<LayoutSpec>): Layout<P>;
    /** What the layout is made of: `new Layout(layout.toJSON())` is the same one. */
    toJSON(): Required<LayoutSpec>;
    /**
     * The ID as a `bigint`.
     *
     * @throws {DecodeError} `INVALID_ID` for anything that is not an ID of this layout, exactly.
     */
    parse(input: IdInput): bigint;
    /** The ID as a `bigint`, or `undefined` where `parse` would throw. */
    tryParse(input: unknown): bigint | undefined;
    /**
     * Takes an ID apart.
     *
     * @throws {DecodeError} `INVALID_ID` as `parse`.
     */
    decode(input: IdInput): Decoded<P>;
    /**
     * Unix milliseconds of the start of an ID's tick.
     *
     * @throws {DecodeError} `INVALID_ID` as `parse`.
     */
    timestampOf(input: IdInput): number;
    /**
     * Takes many IDs apart, into a typed array for each field.
     *
     * @throws {ConfigError} `INVALID_ARGUMENT` for anything but a BigUint64Array (or a BigInt64Array, up to 63 bits).
     * @throws {DecodeError} `INVALID_ID` at the first one that is not an ID of this layout.
     */
    decodeMany(ids: BigUint64Array | BigInt64Array): Columns;
    /**
     * Puts an ID together: the inverse of `decode`. It takes what that returns, and a copy with some fields changed; only the
     * time, the node id, the clock id and the sequence count.
     *
     * @throws {DecodeError} `TIME_OUT_OF_RANGE` for a time that the time field cannot hold.
     * @throws {ConfigError} `INVALID_NODE`, or `INVALID_ARGUMENT` for any other field that is missing, not in the layout, or
     * too large, and for a time that is not the start of a tick.
     */
    compose(fields: Composition<P>): bigint;
    /**
     * The smallest ID whose tick contains the time (a `Date` or Unix milliseconds): with `maxIdAt` an inclusive range for a
     * query. `node` must be given where the layout has node bits above its time, and only there.
     *
     * @throws {DecodeError} `TIME_OUT_OF_RANGE`; `NOT_TIME_ORDERED` where a clock or sequence field lies above the time.
     * @throws {ConfigError} `INVALID_NODE` or `INVALID_ARGUMENT` for a node id that is wrong, missing or not wanted.
     */
    minIdAt(time: Date | number, options?: {
        readonly node?: NodeInput<P>;
    }): bigint;
    /** The largest ID whose tick contains the time. See `minIdAt`. */
    maxIdAt(time: Date | number, options?: {
        readonly node?: NodeInput<P>;
    }): bigint;
    /**
     * The ID as a signed 64-bit column holds it: the same bits.
     *
     * @throws {DecodeError} `INVALID_ID` as `parse`.
     */
    toSigned(input: IdInput): bigint;
    /**
     * The ID that a signed 64-bit column holds, as `bigint` or decimal text.
     *
     * @throws {DecodeError} `INVALID_ID` where the layout has no such ID.
     */
    fromSigned(signed: bigint | string): bigint;
    /** What the layout can hold: for choosing widths, and for telling when they run out. */
    plan(): Plan;
    /**
     * A node id as one number.
     *
     * @throws {ConfigError} `INVALID_NODE`, naming the part at fault.
     */
    joinNode(node: NodeInput<P> | undefined): number;
}
