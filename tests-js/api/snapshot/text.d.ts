import { type IdInput } from "./id.js";
export { DecodeError, type ErrorCode, FrazilError } from "./errors.js";
export type { IdInput } from "./id.js";
/** A way to write IDs. What it reads is exactly what it writes. Its calls work detached, and as a callback of `map`. */
export interface TextForm {
    /**
     * The text of an ID.
     *
     * @throws {DecodeError} `INVALID_ID` for anything that is not an ID from 0 to 2^64 - 1, exactly.
     */
    readonly encode: (id: IdInput) => string;
    /**
     * The ID of a text.
     *
     * @throws {DecodeError} `INVALID_TEXT` for anything that `encode` does not write. `position` is the first character that
     * is wrong: one that is no digit, the first one too many, the end of a text that is too short, a digit for zero in front
     * of others where the form has none, and in a number of more than 64 bits the first digit that is larger than that of
     * 2^64 - 1 in its place.
     */
    readonly decode: (text: string) => bigint;
    /** The ID of a text, or `undefined` where `decode` would throw. */
    readonly tryDecode: (text: unknown) => bigint | undefined;
    /**
     * The texts of many IDs.
     *
     * @throws {DecodeError} `INVALID_ID` as `encode`, with the `index` of the first that is no ID.
     * @throws {ConfigError} `INVALID_ARGUMENT` for anything but a BigUint64Array or an array.
     */
    readonly encodeMany: (ids: BigUint64Array | readonly IdInput[]) => string[];
    /**
     * The IDs of many texts.
     *
     * @throws {DecodeError} `INVALID_TEXT` as `decode`, with the `index` of the first text that is wrong.
     * @throws {ConfigError} `INVALID_ARGUMENT` for anything but an array.
     */
    readonly decodeMany: (texts: readonly string[]) => BigUint64Array;
}
/** A form whose texts have one width and sort, character by character, as their IDs do. */
export interface FixedForm extends TextForm {
    /** The digits, that of zero first. They ascend in ASCII. */
    readonly alphabet: string;
    /** How many characters every text has. */
    readonly width: number;
    /** The same without digits for zero in front, for links. Such texts do not sort as their IDs do. */
    readonly short: TextForm;
}
/** IDs as eight bytes, the most significant first, which sort as the IDs do. */
export interface ByteForm {
    /**
     * The eight bytes of an ID.
     *
     * @throws {DecodeError} `INVALID_ID` for anything that is not an ID from 0 to 2^64 - 1, exactly.
     */
    readonly encode: (id: IdInput) => Uint8Array;
    /**
     * The ID of eight bytes.
     *
     * @throws {DecodeError} `INVALID_TEXT` for anything but a Uint8Array of that length; `position` is where it ends too soon,
     * or the first byte too many.
     */
    readonly decode: (bytes: Uint8Array) => bigint;
    /** The ID of eight bytes, or `undefined` where `decode` would throw. */
    readonly tryDecode: (bytes: unknown) => bigint | undefined;
    /**
     * The bytes of many IDs, eight for each.
     *
     * @throws {DecodeError} `INVALID_ID` as `encode`, with the `index` of the first that is no ID.
     * @throws {ConfigError} `INVALID_ARGUMENT` for anything but a BigUint64Array or an array.
     */
    readonly encodeMany: (ids: BigUint64Array | readonly IdInput[]) => Uint8Array;
    /**
     * The IDs of many bytes.
     *
     * @throws {DecodeError} `INVALID_TEXT` for anything but a Uint8Array with eight bytes for each ID.
     */
    readonly decodeMany: (bytes: Uint8Array) => BigUint64Array;
}
/** Hexadecimal in lower case: 16 characters. */
export declare const hex: FixedForm;
/** Crockford's base 32 in upper case: 13 characters, of which the first is `0` to `F`. */
export declare const base32: FixedForm;
/** The base 58 of Bitcoin: 11 characters, no two of which look alike. The digit for zero is `1`. */
export declare const base58: FixedForm;
/** Base 62, digits before upper before lower case: 11 characters. */
export declare const base62: FixedForm;
/** Eight bytes, the most significant first: for `BINARY(8)`, `bytea`, and the keys of a store. */
export declare const bytes: ByteForm;
