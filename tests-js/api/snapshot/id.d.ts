import { type LayoutParts } from "./generated/layouts.js";
/** An ID as it goes in: `bigint`, decimal text, or a `number` where that is exact. */
export type IdInput = bigint | string | number;
/** What a field of an ID holds. */
export type FieldKind = "time" | "node" | "clock" | "sequence";
/** One field of a layout. */
export interface LayoutField {
    readonly kind: FieldKind;
    /** Its width, at least 1. */
    readonly bits: number;
    /** The name of a node part; an unnamed one is `"node"`. */
    readonly name?: string;
}
/** What a layout is made of: `new Layout(spec)` checks it. */
export interface LayoutSpec {
    /** Unix milliseconds of tick 0. */
    readonly epochMs: number;
    /** The length of a tick in milliseconds. Default: 1. */
    readonly tickMs?: number;
    /** Whether the fields may use all 64 bits, 63 otherwise. Default: false. */
    readonly unsigned?: boolean;
    /** The fields, from the most to the least significant, in any order. */
    readonly fields: readonly LayoutField[];
}
/** The names of the built-in layouts. */
export type LayoutName = keyof LayoutParts;
/** An ID taken apart. */
export interface Decoded<P extends string = string> {
    /** The ID. */
    readonly id: bigint;
    /** Unix milliseconds of the start of its tick. */
    readonly timestampMs: number;
    /** The node id, its parts joined; `undefined` where the layout has none. */
    readonly node: number | undefined;
    /** The clock id; `undefined` where the layout has none. */
    readonly clock: number | undefined;
    /** The number of the ID within its tick. */
    readonly sequence: number;
    /** `timestampMs` as a `Date`. */
    readonly date: Date;
    /** The node id by the names of its parts; `undefined` where the layout has none. */
    readonly parts: {
        readonly [K in P]: number;
    } | undefined;
    /** The same with the ID as text, since JSON has no bigint. */
    toJSON(): object;
}
