/**
 * IDs as text in hexadecimal, Crockford's base 32, bases 36, 58, 62 and 64 and alphabets of your own, and as eight bytes.
 * It uses no WebAssembly and no native code, so it runs under any content security policy. It knows no layouts, so it
 * accepts every 64-bit number.
 *
 * ```js
 * import { base62, hex } from "frazil/text";
 *
 * base62.encode(1541815603606036480n); // "1ptWyK4WgZU"
 * base62.decode("1ptWyK4WgZU"); // 1541815603606036480n
 * base62.short.encode(62n); // "10"
 * hex.encode(62n); // "000000000000003e"
 * ```
 *
 * The Rust core has the same forms (`crates/core/src/text`), and the vectors in `crates/core/vectors/text.json` test that both agree. The
 * forms are JavaScript on every backend, because passing text out of WebAssembly costs more than computing it.
 */
import { bufferOf, isIdArray, lengthOf, offsetOf } from "../base/arrays.js";
import { ConfigError, DecodeError, FrazilError, isWhole, refusal } from "../base/errors.js";
import { putOwn } from "../base/own-properties.js";
import { PackageRule } from "../base/package-rules.js";
import { Rule } from "../generated/rules.js";
import { ANY_ID, type IdInput, parseId } from "../layout/id.js";
import { digitsOf } from "./digits.js";

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
   * @throws {DecodeError} `INVALID_TEXT` if `encode` does not write this text. `position` is the first wrong character: not a digit,
   * surplus, the end of a short text, or a leading zero digit in a form without them. If the number has more than 64 bits, it is the first
   * digit above that of 2^64 - 1.
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
   * Writes the texts of many IDs, one after another as ASCII, to the start of an array. Returns the number of bytes written: `width` for
   * each ID.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` if the IDs are not a BigUint64Array, or the target is not a Uint8Array with room for all
   * texts, in other memory than the IDs. Then nothing is written.
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
   * @throws {DecodeError} `INVALID_TEXT` if the argument is not a Uint8Array of eight bytes. `position` is the end of a short array, or the
   * first surplus byte.
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

/** Scratch memory to convert a `bigint` to eight bytes and back. */
const scratch = /* @__PURE__ */ new Uint8Array(8);
const word = /* @__PURE__ */ (() => new DataView(scratch.buffer))();

/** The error for a text. */
const refuse = (field: string, value: unknown, rule: string, position?: number, max?: unknown): FrazilError =>
  refusal(DecodeError, "INVALID_TEXT", field, value, rule, 0, max, position === undefined ? {} : { position });

/** The result of a call, or `undefined` if it throws. */
function attempt<T, R>(call: (input: T) => R, input: unknown): R | undefined {
  try {
    return call(input as T);
  } catch {
    return undefined;
  }
}

/**
 * The elements of an array, each read once: a getter or a Proxy is code of the caller, which can change the array. They end at the first
 * missing one, which is refused: a tiny array may have a length of 2^32.
 */
function elementsOf<T>(field: string, array: readonly T[], rule: string): T[] {
  let cause: unknown;
  try {
    // Throws for a revoked Proxy, which is not an array.
    const end = Array.isArray(array) && array.length;
    if (isWhole(end, 0, 2 ** 32)) {
      const list: T[] = [];
      for (let at = 0; at < end; at++) {
        const element = array[at] as T;
        putOwn(list, at, element);
        if (element === undefined) break;
      }
      return list;
    }
  } catch (error) {
    cause = error;
  }
  throw refusal(ConfigError, "INVALID_ARGUMENT", field, array, rule, 0, 0, { cause });
}

/** Writes the result of a call for each of these IDs or texts into a list. An error has the index. */
function each<T, R, L extends { [index: number]: R }>(
  field: string,
  given: ArrayLike<T>,
  rule: string,
  call: (input: T) => R,
  listOf: (length: number) => L,
): L {
  // The elements of a typed array are its own, whatever its class says about its length. It cannot hold texts.
  const isOfIds = isIdArray(given, "BigUint64Array") && rule === PackageRule.TEXT_IDS;
  const inputs = isOfIds ? given : elementsOf(field, given as readonly T[], rule);
  const length = isOfIds ? lengthOf(given as never) : inputs.length;
  const results = listOf(length);
  const isList = Array.isArray(results);
  for (let index = 0; index < length; index++) {
    try {
      const result = call(inputs[index] as T);
      // The elements of a typed array are its own.
      if (isList) putOwn(results, index, result);
      else results[index] = result;
    } catch (error) {
      if (!FrazilError.is(error)) throw error;
      const { code, field, value, rule, ...details } = error;
      // The rule is complete, and may contain text like a placeholder.
      const at = `${field}s[${index}]`;
      throw refusal(DecodeError, code, at, value, rule as string, undefined, undefined, { ...details, index });
    }
  }
  return results;
}

/** Any ID as a `bigint`, exactly. */
const parse = (id: IdInput): bigint => parseId(ANY_ID, id);

/** Array, also if a program replaces the global later. */
const List = Array;

const words = (length: number): BigUint64Array => new BigUint64Array(length);

/** The methods of a form. */
function calls(write: (id: bigint) => string, read: (text: string) => bigint): TextForm {
  const encode = (id: IdInput) => write(parse(id));
  return {
    encode,
    decode: read,
    tryDecode: (text) => attempt(read, text),
    encodeMany: (ids) =>
      each<IdInput, string, string[]>("ids", ids, PackageRule.TEXT_IDS, encode, (length) => new List(length)),
    decodeMany: (texts) => each("texts", texts, PackageRule.TEXT_STRINGS, read, words),
  };
}

/** The differences between a form and the plain number in the digits of its alphabet. */
interface Differences {
  /** Other digits to read, each at the index of the digit that it stands for. */
  readonly others?: readonly string[];
  /** The factor of the ID. Default: 1. */
  readonly scale?: 1 | 4;
}

/** The rule of an alphabet that words cannot describe. */
const ITS_DIGITS = `${Rule.TEXT_ALPHABET}\nThe alphabet is {max}`;

/** The form of an alphabet. `rule` is the rule that other characters break, in which `{max}` is the alphabet. */
function form(alphabet: string, rule: string, { others = [], scale = 1 }: Differences = {}): FixedForm {
  const base = alphabet.length;
  const { join, restWidth, text: write, textsInto, width } = digitsOf(alphabet, scale);
  /** The value of each digit by its character code; -1 for other characters of ASCII. No lookup reaches a prototype. */
  const values = new Int8Array(128).fill(-1);
  for (const digits of [alphabet, ...others])
    for (let digit = 0; digit < digits.length; digit++) values[digits.charCodeAt(digit)] = digit;

  const writeShort = (id: bigint): string => {
    const text = write(id);
    let zeros = 0;
    // The last digit stays, even if it is the zero digit.
    while (zeros < width - 1 && text[zeros] === alphabet[0]) zeros++;
    return text.slice(zeros);
  };

  /** Reads from left to right, so everything before the position of an error is correct. */
  const read = (text: string, isShort: boolean): bigint => {
    if (typeof text !== "string") throw refuse("text", text, PackageRule.TEXT_STRING);
    const { length } = text;
    const wrong = (rule: string, at: number, max: unknown = width) => refuse("text", text, rule, at, max);
    const lengths = isShort ? Rule.TEXT_SHORT : Rule.TEXT_LENGTH;
    const valueAt = (at: number) => values[text.charCodeAt(at)] ?? -1;
    if (isShort && length > 1 && valueAt(0) === 0) throw wrong(Rule.TEXT_ZEROS, 0);
    let [top, rest] = [0, 0];
    for (let at = 0; at < length; at++) {
      if (at === width) throw wrong(lengths, at);
      const digit = valueAt(at);
      if (digit < 0) throw wrong(rule, at, alphabet);
      if (length - at > restWidth) top = top * base + digit;
      else rest = rest * base + digit;
    }
    if (length < (isShort ? 1 : width))
      throw wrong(
        isShort || !length ? lengths : `${lengths}\nFor shorter texts: the short of the form, as base62.short.`,
        length,
      );
    if (rest % scale) throw wrong(Rule.TEXT_BASE64_URL_END, length - 1);
    const id = join(top, rest);
    if (id === undefined) {
      const largest = write(ANY_ID.maxId);
      let at = 0;
      while (valueAt(at) === values[largest.charCodeAt(at)]) at++;
      throw wrong(Rule.ID_RANGE, at, ANY_ID.maxId);
    }
    return id;
  };

  return Object.freeze({
    alphabet,
    width,
    ...calls(write, (text) => read(text, false)),
    short: Object.freeze(calls(writeShort, (text) => read(text, true))),
    encodeInto(ids: BigUint64Array, bytes: Uint8Array) {
      if (!isIdArray(ids, "BigUint64Array"))
        throw refusal(ConfigError, "INVALID_ARGUMENT", "ids", ids, PackageRule.ID_ARRAY);
      const needed = lengthOf(ids) * width;
      if (!isIdArray(bytes, "Uint8Array") || lengthOf(bytes) < needed || bufferOf(bytes) === bufferOf(ids))
        throw refusal(ConfigError, "INVALID_ARGUMENT", "bytes", bytes, PackageRule.TEXT_ROOM, needed);
      // Transferred IDs have no memory that could be read.
      if (needed > 0) textsInto(ids, bytes);
      return needed;
    },
  });
}

/** Hexadecimal in lower case: 16 characters. */
export const hex: FixedForm = /* @__PURE__ */ form("0123456789abcdef", Rule.TEXT_HEX);

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Crockford's base 32 in upper case: 13 characters. The first is `0` to `F`. */
export const base32: FixedForm = /* @__PURE__ */ form(CROCKFORD, Rule.TEXT_BASE32);

/**
 * Crockford's base 32 for IDs that people type: it writes the same as `base32`, and also reads lower case, `I` and `L` as `1`, and `O` as
 * `0`. So an ID has several texts here: compare and store the IDs, or texts from `encode`.
 */
export const crockford: FixedForm = /* @__PURE__ */ form(CROCKFORD, Rule.TEXT_CROCKFORD, {
  others: ["0123456789abcdefghjkmnpqrstvwxyz", "OI", "oi", "OL", "ol"],
});

/** Base 36 in lower case: 13 characters. `short` writes the same as `id.toString(36)`. */
export const base36: FixedForm = /* @__PURE__ */ form("0123456789abcdefghijklmnopqrstuvwxyz", Rule.TEXT_BASE36);

/** The base 58 of Bitcoin: 11 characters, without look-alikes. The zero digit is `1`. */
export const base58: FixedForm = /* @__PURE__ */ form(
  "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
  Rule.TEXT_BASE58,
);

/** Base 62, with digits before upper case before lower case: 11 characters. */
export const base62: FixedForm = /* @__PURE__ */ form(
  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
  Rule.TEXT_BASE62,
);

/**
 * The eight bytes of the ID in the base 64 of RFC 4648 for URLs, without padding: 11 characters, as
 * `Buffer.toString("base64url")` writes them. **Its texts do not sort in the order of the IDs**, because its alphabet does not ascend in
 * ASCII.
 */
export const base64url: FixedForm = /* @__PURE__ */ form(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
  Rule.TEXT_BASE64_URL,
  { scale: 4 },
);

/**
 * The base 32 of the Go package github.com/bwmarrin/snowflake, whose `Base32()` is `short` here. It is neither
 * Crockford's nor that of RFC 4648: the same text is **another ID** there. Texts do not sort in the order of the IDs.
 */
export const bwmarrinBase32: FixedForm = /* @__PURE__ */ form("ybndrfg8ejkmcpqxot1uwisza345h769", ITS_DIGITS);

/**
 * The base 58 of the Go package github.com/bwmarrin/snowflake, whose `Base58()` is `short` here. It has the digits of
 * Bitcoin's in another order, so `base58` reads its texts without an error **as other IDs**. Texts do not sort in the
 * order of the IDs.
 */
export const bwmarrinBase58: FixedForm = /* @__PURE__ */ form(
  "123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ",
  ITS_DIGITS,
);

/**
 * A form with your own alphabet, for texts of another program: the number in the digits of the alphabet, zero first.
 *
 * @throws {ConfigError} `INVALID_ARGUMENT` unless the alphabet is a string of 2 to 94 different printable characters of
 * ASCII, without blanks.
 */
export function customForm(alphabet: string): FixedForm {
  if (typeof alphabet !== "string" || !/^(?:([!-~])(?!.*\1)){2,}$/s.test(alphabet))
    throw refusal(ConfigError, "INVALID_ARGUMENT", "alphabet", alphabet, PackageRule.ALPHABET);
  return form(alphabet, ITS_DIGITS);
}

function checkBytes(bytes: unknown, rule: string, wanted: (length: number) => number): void {
  if (!isIdArray(bytes, "Uint8Array")) throw refuse("bytes", bytes, rule);
  const length = lengthOf(bytes as Uint8Array);
  if (length !== wanted(length)) throw refuse("bytes", bytes, rule, Math.min(length, wanted(length)));
}

function readBytes(bytes: Uint8Array): bigint {
  checkBytes(bytes, PackageRule.TEXT_BYTES, () => 8);
  scratch.set(bytes);
  return word.getBigUint64(0);
}

/** Eight bytes, the most significant first: for `BINARY(8)`, `bytea`, and keys of a store. */
export const bytes: ByteForm = /* @__PURE__ */ Object.freeze({
  encode(id: IdInput) {
    word.setBigUint64(0, parse(id));
    return scratch.slice();
  },
  decode: readBytes,
  tryDecode: (bytes: unknown) => attempt(readBytes, bytes),
  encodeMany(ids: BigUint64Array | readonly IdInput[]) {
    const list = each<IdInput, bigint, BigUint64Array>("ids", ids, PackageRule.TEXT_IDS, parse, words);
    const view = new DataView(list.buffer);
    for (let at = 0; at < list.length; at++) view.setBigUint64(8 * at, list[at] as bigint);
    return new Uint8Array(list.buffer);
  },
  decodeMany(bytes: Uint8Array) {
    checkBytes(bytes, PackageRule.TEXT_MANY_BYTES, (length) => 8 * Math.ceil(length / 8));
    let view: DataView;
    try {
      view = new DataView(bufferOf(bytes), offsetOf(bytes));
    } catch {
      throw refuse("bytes", bytes, PackageRule.TEXT_MANY_BYTES); // its memory was transferred
    }
    const ids = new BigUint64Array(lengthOf(bytes) / 8);
    for (let at = 0; at < ids.length; at++) ids[at] = view.getBigUint64(8 * at);
    return ids;
  },
});
