import { type IdInput } from "../layout/id.js";
export { DecodeError, type ErrorCode, FrazilError } from "../base/errors.js";
export type { IdInput } from "../layout/id.js";
/**
 * A text form of IDs. It reads exactly what it writes, except `crockford`, which reads more.
 * Its methods work detached, for example as a callback of `map`.
 */
export interface TextForm {
    /**
     * The text of an ID.
     *
     * @throws {DecodeError} `INVALID_ID` if the value is not exactly an ID from 0 to 2^64 - 1.
     */
    readonly encode: (id: IdInput) => string;
    /**
     * The ID of a text.
     *
     * @throws {DecodeError} `INVALID_TEXT` if `encode` does not write this text. `position` is the first wrong character:
     * one that is not a digit, the first surplus one, the end of a text that is too short, a leading zero digit in a form
     * without leading zeros, or, if the number has more than 64 bits, the first digit that is larger than the digit of
     * 2^64 - 1 at that position.
     */
    readonly decode: (text: string) => bigint;
    /** The ID of a text, or `undefined` if `decode` would throw. */
    readonly tryDecode: (text: unknown) => bigint | undefined;
    /**
     * The texts of many IDs.
     *
     * @throws {DecodeError} `INVALID_ID` as `encode`, with the `index` of the first value that is not an ID.
     * @throws {ConfigError} `INVALID_ARGUMENT` if the argument is neither a BigUint64Array nor an array, or an element cannot be read.
     */
    readonly encodeMany: (ids: BigUint64Array | readonly IdInput[]) => string[];
    /**
     * The IDs of many texts.
     *
     * @throws {DecodeError} `INVALID_TEXT` as `decode`, with the `index` of the first wrong text.
     * @throws {ConfigError} `INVALID_ARGUMENT` if the argument is not an array.
     */
    readonly decodeMany: (texts: readonly string[]) => BigUint64Array;
}
/**
 * A text form of fixed width. If its alphabet ascends in ASCII, as those of `hex`, `base32`, `crockford`, `base36`,
 * `base58` and `base62` do, its texts, compared character by character, sort in the order of the IDs.
 */
export interface FixedForm extends TextForm {
    /** The digits from zero up. */
    readonly alphabet: string;
    /** The number of characters of every text. */
    readonly width: number;
    /** The same form without leading zero digits, for links. Such texts do not sort in the order of the IDs. */
    readonly short: TextForm;
    /**
     * Writes the texts of many IDs, one after another as ASCII, to the start of an array, and returns how many bytes it
     * wrote: `width` for each ID.
     *
     * @throws {ConfigError} `INVALID_ARGUMENT` if the IDs are not a BigUint64Array, or the target is not a Uint8Array with
     * room for all texts, in other memory than that of the IDs. Nothing has been written then.
     */
    readonly encodeInto: (ids: BigUint64Array, bytes: Uint8Array) => number;
}
/** IDs as eight bytes, the most significant first. The bytes sort in the order of the IDs. */
export interface ByteForm {
    /**
     * The eight bytes of an ID.
     *
     * @throws {DecodeError} `INVALID_ID` if the value is not exactly an ID from 0 to 2^64 - 1.
     */
    readonly encode: (id: IdInput) => Uint8Array;
    /**
     * The ID of eight bytes.
     *
     * @throws {DecodeError} `INVALID_TEXT` if the argument is not a Uint8Array of eight bytes. `position` is the end of
     * an array that is too short, or the first surplus byte.
     */
    readonly decode: (bytes: Uint8Array) => bigint;
    /** The ID of eight bytes, or `undefined` if `decode` would throw. */
    readonly tryDecode: (bytes: unknown) => bigint | undefined;
    /**
     * The bytes of many IDs, eight for each.
     *
     * @throws {DecodeError} `INVALID_ID` as `encode`, with the `index` of the first value that is not an ID.
     * @throws {ConfigError} `INVALID_ARGUMENT` if the argument is neither a BigUint64Array nor an array, or an element cannot be read.
     */
    readonly encodeMany: (ids: BigUint64Array | readonly IdInput[]) => Uint8Array;
    /**
     * The IDs in an array of bytes, eight for each.
     *
     * @throws {DecodeError} `INVALID_TEXT` if the argument is not a Uint8Array whose length is a multiple of eight.
     */
    readonly decodeMany: (bytes: Uint8Array) => BigUint64Array;
}
/** Hexadecimal in lower case: 16 characters. */
export declare const hex: FixedForm;
/** Crockford's base 32 in upper case: 13 characters. The first is `0` to `F`. */
export declare const base32: FixedForm;
/**
 * Crockford's base 32 for IDs that people type: it writes what `base32` writes, and reads lower case too, `I` and `L` as
 * `1`, and `O` as `0`. So an ID has several texts here: compare and store the IDs, or what `encode` writes.
 */
export declare const crockford: FixedForm;
/** Base 36 in lower case: 13 characters. `short` writes what `id.toString(36)` writes. */
export declare const base36: FixedForm;
/** The base 58 of Bitcoin: 11 characters without ones that look alike. The zero digit is `1`. */
export declare const base58: FixedForm;
/** Base 62, with digits before upper case before lower case: 11 characters. */
export declare const base62: FixedForm;
/**
 * The eight bytes of the ID in the base 64 of RFC 4648 for URLs, without padding: 11 characters, as
 * `Buffer.toString("base64url")` writes them. **Its texts do not sort in the order of the IDs**, since its alphabet does
 * not ascend in ASCII.
 */
export declare const base64url: FixedForm;
/**
 * The base 32 of the Go package github.com/bwmarrin/snowflake, whose `Base32()` is `short` here. It is neither
 * Crockford's nor that of RFC 4648: the same text is **another ID** there. Texts do not sort in the order of the IDs.
 */
export declare const bwmarrinBase32: FixedForm;
/**
 * The base 58 of the Go package github.com/bwmarrin/snowflake, whose `Base58()` is `short` here. It has the digits of
 * Bitcoin's in another order, so `base58` reads its texts without an error **as other IDs**. Texts do not sort in the
 * order of the IDs.
 */
export declare const bwmarrinBase58: FixedForm;
/**
 * A form with an alphabet of your own, for texts that another program wrote: the number in the digits of the alphabet,
 * that of zero first.
 *
 * @throws {ConfigError} `INVALID_ARGUMENT` unless the alphabet is a string of 2 to 94 different printable characters of
 * ASCII, without blanks.
 */
export declare function customForm(alphabet: string): FixedForm;
/** Eight bytes, the most significant first: for `BINARY(8)`, `bytea`, and keys of a store. */
export declare const bytes: ByteForm;
