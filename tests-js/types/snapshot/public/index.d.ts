import { type IdInput, type LayoutName } from "../layout/id.js";
export { ConfigError, DecodeError, type ErrorCode, FrazilError } from "../base/errors.js";
export type { IdInput, LayoutName } from "../layout/id.js";
export interface LayoutFields {
    readonly fields: readonly {
        readonly bits: number;
    }[];
}
export type PublicKey = string | Uint8Array;
export interface ShortKey {
    readonly slot: number;
    readonly key: PublicKey | undefined;
}
interface CommonOptions<K extends string> {
    readonly kind: K;
    readonly layout?: LayoutName | LayoutFields | undefined;
}
export interface SealedOptions<K extends string = string> extends CommonOptions<K> {
    readonly form?: "sealed" | undefined;
    readonly keys: readonly (PublicKey | undefined)[];
}
export interface ShortOptions<K extends string = string> extends CommonOptions<K> {
    readonly form: "short";
    readonly keys: readonly ShortKey[];
}
export interface PublicIds<K extends string = string, F extends "sealed" | "short" = "sealed" | "short"> {
    readonly kind: K;
    readonly form: F;
    readonly layout: LayoutName | LayoutFields;
    readonly fingerprints: readonly string[];
    readonly encode: (id: IdInput) => string;
    readonly decode: (text: string) => bigint;
}
export declare function publicIds<const K extends string>(options: ShortOptions<K>): PublicIds<K, "short">;
export declare function publicIds<const K extends string>(options: SealedOptions<K>): PublicIds<K, "sealed">;
