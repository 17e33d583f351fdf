import { type LayoutParts } from "../generated/layouts.js";
/** An ID as an argument: a `bigint`, decimal text, or a `number` that is exact. */
export type IdInput = bigint | string | number;
/**
 * An ID of one kind, for the compiler alone: a `bigint` that only the same kind accepts, and that every `bigint` accepts. The program
 * says where IDs get their kind, and at run time nothing is different:
 *
 * ```ts
 * type UserId = Id<"user">;
 * const newUserId = () => ids.next() as UserId;
 * ```
 */
export type Id<Kind extends string = string> = bigint & {
    readonly "frazil.id": Kind;
};
/** The decimal text of an ID of one kind, as `Id` is its number: `ids.nextString() as IdText<"user">`. */
export type IdText<Kind extends string = string> = string & {
    readonly "frazil.id": Kind;
};
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
    /**
     * The epoch: the start of tick 0, in Unix milliseconds or as a `Date`. A constant: with an epoch that moves, IDs repeat.
     */
    readonly epochMs: number | Date;
    /** The length of a tick in milliseconds. Default: 1. */
    readonly tickMs?: number;
    /** Whether the fields may use all 64 bits; otherwise 63. Default: false. */
    readonly unsigned?: boolean;
    /** The fields, from the most to the least significant. Any order of kinds is allowed. */
    readonly fields: readonly LayoutField[];
}
/** A definition that was checked, with nothing left out. */
export interface CheckedSpec extends Required<LayoutSpec> {
    readonly epochMs: number;
}
/** The names of the built-in layouts. */
export type LayoutName = keyof LayoutParts;
