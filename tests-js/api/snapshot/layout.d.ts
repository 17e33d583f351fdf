import { type Decoded, type NodeParts } from "./decoded.js";
import { type LayoutParts } from "./generated/layouts.js";
import { type CheckedSpec, type FieldKind, type IdInput, type LayoutField, type LayoutName, type LayoutSpec } from "./id.js";
export type { Decoded, NodeParts } from "./decoded.js";
export { ConfigError, DecodeError, type ErrorCode, FrazilError } from "./errors.js";
export type { CheckedSpec, FieldKind, Id, IdInput, IdText, LayoutField, LayoutName, LayoutSpec } from "./id.js";
/** A layout: the name of a built-in one, a definition, or a `Layout`. */
export type LayoutInput = LayoutName | LayoutSpec | Layout<string>;
/** The names of the node parts of a layout. It types `node` and `parts`. */
export type PartsOf<L> = L extends LayoutName ? LayoutParts[L] : L extends Layout<infer P> ? P : L extends {
    readonly fields: readonly (infer F)[];
} ? F extends {
    readonly kind: infer K;
} ? FieldKind extends K ? string : F extends {
    readonly kind: "node";
    readonly name: infer N extends string;
} ? N : K extends "node" ? "node" : never : never : string;
/** What `decode` of a layout returns: `DecodedOf<"twitter">`, or `DecodedOf<typeof ids.layout>`. */
export type DecodedOf<L> = Decoded<PartsOf<L>>;
/** A node id: one number, or its parts by name. */
export type NodeInput<P extends string = string> = number | NodeParts<P>;
/** The fields from which `compose` makes an ID. */
export interface Composition<P extends string = string> {
    /** The start of a tick: a `Date` or Unix milliseconds. */
    readonly timestampMs: number | Date;
    /** The node id, if the layout has a node field. */
    readonly node?: NodeInput<P> | undefined;
    /** The clock id, if the layout has a clock field. */
    readonly clock?: number | undefined;
    readonly sequence: number;
}
/** The capacity of a layout. */
export interface Plan {
    /** The last time that an ID can hold. */
    readonly lastDate: Date;
    /**
     * The last time whose IDs are positive in a signed 64-bit column; `undefined` if the sign does not depend on the
     * time.
     */
    readonly signedUntil: Date | undefined;
    /**
     * Whether the IDs of one generator strictly increase: the time is above the clock id, and that above the sequence.
     */
    readonly ordered: boolean;
    /** The number of node ids; 1 without a node field. */
    readonly nodes: number;
    /** How many IDs one node can issue in a tick. */
    readonly idsPerTick: number;
    /** How many IDs one node can issue in a second. */
    readonly idsPerSecond: number;
}
/** The fields of many IDs, one array for each field. */
export interface Columns {
    readonly timestampMs: Float64Array;
    readonly node: Uint32Array | undefined;
    readonly clock: Uint32Array | undefined;
    readonly sequence: Float64Array;
}
/** The IDs of a stretch of time: `id >= fromId AND id < untilId`. */
export interface IdRange {
    readonly fromId: bigint;
    readonly untilId: bigint;
}
/**
 * The meaning of the 64 bits of an ID: the fields in order, the epoch, and the length of a tick.
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
     * Checks a definition and makes a layout from it.
     *
     * @throws {ConfigError} `INVALID_LAYOUT` with the field, the value and the rule.
     */
    constructor(spec: LayoutSpec);
    /**
     * A built-in layout.
     *
     * @throws {ConfigError} `INVALID_LAYOUT` if the name is not one of `Layout.names`.
     */
    static named<N extends LayoutName>(name: N): Layout<LayoutParts[N]>;
    /** The names of the built-in layouts. */
    static get names(): readonly LayoutName[];
    /** A layout with some properties changed, such as `{ epochMs }`. */
    with(changes: Partial<LayoutSpec>): Layout<P>;
    /** The definition of the layout: `new Layout(layout.toJSON())` is an equal layout. */
    toJSON(): CheckedSpec;
    /**
     * The ID as a `bigint`.
     *
     * @throws {DecodeError} `INVALID_ID` if the value is not exactly an ID of this layout.
     */
    parse(input: IdInput): bigint;
    /** The ID as a `bigint`, or `undefined` if `parse` would throw. */
    tryParse(input: unknown): bigint | undefined;
    /**
     * Decodes an ID.
     *
     * @throws {DecodeError} `INVALID_ID` as `parse`.
     */
    decode(input: IdInput): Decoded<P>;
    /**
     * The start of an ID's tick, in Unix milliseconds.
     *
     * @throws {DecodeError} `INVALID_ID` as `parse`.
     */
    timestampOf(input: IdInput): number;
    /**
     * Decodes many IDs into one typed array for each field: new ones, or those of `into`, such as an earlier result. They must have
     * the length of `ids`, and overlap neither them nor each other. If an ID is refused, nothing is written.
     *
     * @throws {ConfigError} `INVALID_ARGUMENT` if the argument is not a BigUint64Array, or, for a layout of up to 63
     * bits, a BigInt64Array; or if `into` does not have the fields of the layout in such arrays.
     * @throws {DecodeError} `INVALID_ID` for the first value that is not an ID of this layout, with its `index`.
     */
    decodeMany(ids: BigUint64Array | BigInt64Array, into?: Columns): Columns;
    /**
     * Makes an ID from its fields: the inverse of `decode`. It accepts the result of `decode`, or a copy with some fields
     * changed. It uses only the time, the node id, the clock id and the sequence.
     *
     * @throws {DecodeError} `TIME_OUT_OF_RANGE` if the time field cannot hold the time.
     * @throws {ConfigError} `INVALID_NODE`. `INVALID_ARGUMENT` if another field is missing, too large, or not in the
     * layout, or if the time is not the start of a tick.
     */
    compose(fields: Composition<P>): bigint;
    /**
     * The IDs of a stretch of time, half open, for a query: `id >= fromId AND id < untilId`. The times are `Date`s or Unix
     * milliseconds. A range has the ticks from the one that contains `from` up to, but not including, the one that contains
     * `to`: ranges that meet share no ID, and leave none out between them.
     *
     * A time before the epoch counts as the epoch, but one that is in seconds is refused: below 1e11, where the layout holds its
     * thousandfold and the epoch is later. Beyond the last tick, `untilId` is one more than the largest ID (of that
     * node id). Generators may be ahead of the clock by their lead (`maxLeadMs`, up to a second), so a range up to now does
     * not have all IDs that exist. `node` is that of `minIdAt`.
     *
     * @throws {DecodeError} `NOT_TIME_ORDERED` as `minIdAt`. `TIME_OUT_OF_RANGE` for a time that is not a whole number
     * of milliseconds, such as an invalid `Date`, or that is in seconds.
     * @throws {ConfigError} `INVALID_ARGUMENT` if `from` is after `to`; `INVALID_NODE` or `INVALID_ARGUMENT` as `minIdAt`.
     */
    range(from: Date | number, to: Date | number, options?: {
        readonly node?: NodeInput<P>;
    }): IdRange;
    /**
     * The smallest ID whose tick contains the time, which is a `Date` or Unix milliseconds. With `maxIdAt` it gives the
     * inclusive range of one tick; for longer times see `range`. If the layout has node bits above the time, `node` is
     * required; otherwise it must be left out.
     *
     * @throws {DecodeError} `TIME_OUT_OF_RANGE`. `NOT_TIME_ORDERED` if a clock or sequence field is above the time.
     * @throws {ConfigError} `INVALID_NODE` or `INVALID_ARGUMENT` if the node id is invalid, missing, or must be left out.
     */
    minIdAt(time: Date | number, options?: {
        readonly node?: NodeInput<P>;
    }): bigint;
    /**
     * The largest ID whose tick contains the time. See `minIdAt`. It is not above all IDs that exist at that time: a
     * generator may be ahead of the clock by its lead (`maxLeadMs`, up to a second).
     */
    maxIdAt(time: Date | number, options?: {
        readonly node?: NodeInput<P>;
    }): bigint;
    /**
     * The ID as a signed 64-bit column stores it: the same bits.
     *
     * @throws {DecodeError} `INVALID_ID` as `parse`.
     */
    toSigned(input: IdInput): bigint;
    /**
     * The ID for a value of a signed 64-bit column, given as a `bigint` or decimal text.
     *
     * @throws {DecodeError} `INVALID_ID` if the layout has no such ID.
     */
    fromSigned(signed: bigint | string): bigint;
    /** The capacity of the layout: helps to choose widths, and says when the time runs out. */
    plan(): Plan;
    /**
     * A node id as one number.
     *
     * @throws {ConfigError} `INVALID_NODE`, with the name of the part at fault.
     */
    joinNode(node: NodeInput<P> | undefined): number;
}
