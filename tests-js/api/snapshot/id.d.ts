import { type LayoutParts } from "./generated/layouts.js";
/** An ID as an argument: a `bigint`, decimal text, or a `number` that is exact. */
export type IdInput = bigint | string | number;
/** The meaning of a field of an ID. */
export type FieldKind = "time" | "node" | "clock" | "sequence";
/** One field of a layout. */
export interface LayoutField {
    readonly kind: FieldKind;
    /** The width in bits, at least 1. */
    readonly bits: number;
    /** The name of a part of the node id. Default: `"node"`. */
    readonly name?: string;
}
/** The definition of a layout. `new Layout(spec)` checks it. */
export interface LayoutSpec {
    /** The epoch: the start of tick 0, in Unix milliseconds. */
    readonly epochMs: number;
    /** The length of a tick in milliseconds. Default: 1. */
    readonly tickMs?: number;
    /** Whether the fields may use all 64 bits; otherwise 63. Default: false. */
    readonly unsigned?: boolean;
    /** The fields, from the most to the least significant. Any order of kinds is allowed. */
    readonly fields: readonly LayoutField[];
}
/** The names of the built-in layouts. */
export type LayoutName = keyof LayoutParts;
