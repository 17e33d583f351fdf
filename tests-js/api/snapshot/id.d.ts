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
