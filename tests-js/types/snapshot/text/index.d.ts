import { type IdInput } from "../layout/id.js";
export { DecodeError, type ErrorCode, FrazilError } from "../base/errors.js";
export type { IdInput } from "../layout/id.js";
export interface TextForm {
    readonly encode: (id: IdInput) => string;
    readonly decode: (text: string) => bigint;
    readonly tryDecode: (text: unknown) => bigint | undefined;
    readonly encodeMany: (ids: BigUint64Array | readonly IdInput[]) => string[];
    readonly decodeMany: (texts: readonly string[]) => BigUint64Array;
}
export interface FixedForm extends TextForm {
    readonly alphabet: string;
    readonly width: number;
    readonly short: TextForm;
    readonly encodeInto: (ids: BigUint64Array, bytes: Uint8Array) => number;
}
export interface ByteForm {
    readonly encode: (id: IdInput) => Uint8Array;
    readonly decode: (bytes: Uint8Array) => bigint;
    readonly tryDecode: (bytes: unknown) => bigint | undefined;
    readonly encodeMany: (ids: BigUint64Array | readonly IdInput[]) => Uint8Array;
    readonly decodeMany: (bytes: Uint8Array) => BigUint64Array;
}
export declare const hex: FixedForm;
export declare const base32: FixedForm;
export declare const crockford: FixedForm;
export declare const base36: FixedForm;
export declare const base58: FixedForm;
export declare const base62: FixedForm;
export declare const base64url: FixedForm;
export declare const bwmarrinBase32: FixedForm;
export declare const bwmarrinBase58: FixedForm;
export declare function customForm(alphabet: string): FixedForm;
export declare const bytes: ByteForm;
