import { type LayoutParts } from "../generated/layouts.js";
export type IdInput = bigint | string | number;
export type Id<Kind extends string = string> = bigint & {
    readonly "frazil.id": Kind;
};
export type IdText<Kind extends string = string> = string & {
    readonly "frazil.id": Kind;
};
export type FieldKind = "time" | "node" | "clock" | "sequence";
export interface LayoutField {
    readonly kind: FieldKind;
    readonly bits: number;
    readonly name?: string;
}
export interface LayoutSpec {
    readonly epochMs: number | Date;
    readonly tickMs?: number;
    readonly unsigned?: boolean;
    readonly fields: readonly LayoutField[];
}
export interface CheckedSpec extends Required<LayoutSpec> {
    readonly epochMs: number;
}
export type LayoutName = keyof LayoutParts;
