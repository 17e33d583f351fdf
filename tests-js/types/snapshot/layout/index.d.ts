import { type LayoutParts } from "../generated/layouts.js";
import { type Columns } from "./columns.js";
import { type Decoded, type NodeParts } from "./decoded.js";
import { type CheckedSpec, type FieldKind, type IdInput, type LayoutField, type LayoutName, type LayoutSpec } from "./id.js";
export { ConfigError, DecodeError, type ErrorCode, FrazilError } from "../base/errors.js";
export type { Columns } from "./columns.js";
export type { Decoded, NodeParts } from "./decoded.js";
export type { CheckedSpec, FieldKind, Id, IdInput, IdText, LayoutField, LayoutName, LayoutSpec } from "./id.js";
export type LayoutInput = LayoutName | LayoutSpec | Layout<string>;
export type PartsOf<L> = L extends LayoutName ? LayoutParts[L] : L extends Layout<infer P> ? P : L extends {
    readonly fields: readonly (infer F)[];
} ? F extends {
    readonly kind: infer K;
} ? FieldKind extends K ? string : F extends {
    readonly kind: "node";
    readonly name: infer N extends string;
} ? N : K extends "node" ? "node" : never : never : string;
export type DecodedOf<L> = Decoded<PartsOf<L>>;
export type NodeInput<P extends string = string> = number | string | NodeParts<P>;
export interface Composition<P extends string = string> {
    readonly timestampMs: number | Date;
    readonly node?: NodeInput<P> | undefined;
    readonly clock?: number | undefined;
    readonly sequence: number;
}
export interface Plan {
    readonly lastDate: Date;
    readonly signedUntil: Date | undefined;
    readonly ordered: boolean;
    readonly nodes: number;
    readonly idsPerTick: number;
    readonly idsPerSecond: number;
}
export interface IdRange {
    readonly fromId: bigint;
    readonly untilId: bigint;
}
export declare class Layout<P extends string = string> {
    #private;
    readonly epochMs: number;
    readonly tickMs: number;
    readonly unsigned: boolean;
    readonly fields: readonly LayoutField[];
    constructor(spec: LayoutSpec);
    static named<N extends LayoutName>(name: N): Layout<LayoutParts[N]>;
    static get names(): readonly LayoutName[];
    with(changes: Partial<LayoutSpec>): Layout<P>;
    toJSON(): CheckedSpec;
    parse(input: IdInput): bigint;
    tryParse(input: unknown): bigint | undefined;
    decode(input: IdInput): Decoded<P>;
    timestampOf(input: IdInput): number;
    decodeMany(ids: BigUint64Array | BigInt64Array, into?: Columns): Columns;
    compose(fields: Composition<P>): bigint;
    range(from: Date | number, to: Date | number, options?: {
        readonly node?: NodeInput<P>;
    }): IdRange;
    minIdAt(time: Date | number, options?: {
        readonly node?: NodeInput<P>;
    }): bigint;
    maxIdAt(time: Date | number, options?: {
        readonly node?: NodeInput<P>;
    }): bigint;
    toSigned(input: IdInput): bigint;
    fromSigned(signed: bigint | string): bigint;
    plan(): Plan;
    joinNode(node: NodeInput<P> | undefined): number;
}
