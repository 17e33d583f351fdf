/**
 * IDs as text in hexadecimal, Crockford's base 32, base 58 and base 62, and as eight bytes. It uses no WebAssembly and
 * no native code, so it runs under any content security policy. It knows no layouts, so it accepts every 64-bit number.
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
 * The Rust core has the same forms (`crates/core/src/text.rs`), and the vectors in `crates/core/vectors/text.json` test
 * that both agree. These are JavaScript on every backend, because passing a text out of WebAssembly costs more than
 * computing its digits.
 */
import { isIdArray } from "./arrays.js";
import { ConfigError, DecodeError, FrazilError, refusal } from "./errors.js";
import { Rule } from "./generated/rules.js";
import { ANY_ID, type IdInput, parseId } from "./id.js";

export { DecodeError, type ErrorCode, FrazilError } from "./errors.js";
export type { IdInput } from "./id.js";

/**
 * A text form of IDs. It reads exactly what it writes. Its methods work detached, for example as a callback of `map`.
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
   * @throws {ConfigError} `INVALID_ARGUMENT` if the argument is neither a BigUint64Array nor an array.
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

/** A text form of fixed width. Its texts, compared character by character, sort in the order of the IDs. */
export interface FixedForm extends TextForm {
  /** The digits from zero up, in ascending ASCII order. */
  readonly alphabet: string;
  /** The number of characters of every text. */
  readonly width: number;
  /** The same form without leading zero digits, for links. Such texts do not sort in the order of the IDs. */
  readonly short: TextForm;
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
   * @throws {ConfigError} `INVALID_ARGUMENT` if the argument is neither a BigUint64Array nor an array.
   */
  readonly encodeMany: (ids: BigUint64Array | readonly IdInput[]) => Uint8Array;
  /**
   * The IDs in an array of bytes, eight for each.
   *
   * @throws {DecodeError} `INVALID_TEXT` if the argument is not a Uint8Array whose length is a multiple of eight.
   */
  readonly decodeMany: (bytes: Uint8Array) => BigUint64Array;
}

const TWO_32 = 0x1_0000_0000;
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

/** Writes the result of a call for each input into a list. An error has the index of its input. */
function each<T, R>(inputs: ArrayLike<T>, call: (input: T) => R, results: { [index: number]: R }): void {
  for (let index = 0; index < inputs.length; index++) {
    try {
      results[index] = call(inputs[index] as T);
    } catch (error) {
      if (!FrazilError.is(error)) throw error;
      const { code, field, value, rule, ...details } = error;
      throw refusal(DecodeError, code, `${field}s[${index}]`, value, rule as string, 0, 0, { ...details, index });
    }
  }
}

function checkArray(field: string, value: unknown, rule: string, orElse = false): void {
  if (!Array.isArray(value) && !orElse) throw refusal(ConfigError, "INVALID_ARGUMENT", field, value, rule);
}

const checkIds = (ids: unknown): void => checkArray("ids", ids, Rule.TEXT_IDS, isIdArray(ids, "BigUint64Array"));

/** The methods of a form. */
function calls(write: (id: bigint) => string, read: (text: string) => bigint): TextForm {
  const encode = (id: IdInput) => write(parseId(ANY_ID, id));
  return {
    encode,
    decode: read,
    tryDecode: (text) => attempt(read, text),
    encodeMany(ids) {
      checkIds(ids);
      const texts: string[] = [];
      each<IdInput, string>(ids, encode, texts);
      return texts;
    },
    decodeMany(texts) {
      checkArray("texts", texts, Rule.TEXT_STRINGS);
      const ids = new BigUint64Array(texts.length);
      each(texts, read, ids);
      return ids;
    },
  };
}

/**
 * The form of an alphabet. `rule` is the rule that other characters break. `native`, if given, writes the text by the
 * engine.
 */
function form(alphabet: string, rule: string, native?: (id: bigint) => string): FixedForm {
  const base = alphabet.length;
  const width = Math.ceil(64 / Math.log2(base));
  const codes = Array.from(alphabet, (digit) => digit.charCodeAt(0));
  /** The value of each digit by its character code. */
  const values: (number | undefined)[] = [];
  codes.forEach((code, digit) => {
    values[code] = digit;
  });
  const characters = codes.slice(0, width);
  // An ID is `top * unit + rest`. `top` is its first three digits (at most 2^18), and `rest` the others (less than
  // `unit`, which is at most 2^52). With `unit` in two halves as well, all arithmetic below stays within 2^53 and is
  // exact, except one quotient.
  let unit = 1;
  for (let digits = 3; digits < width; digits++) unit *= base;
  const unitHigh = Math.floor(unit / TWO_32);
  const unitLow = unit % TWO_32;

  const digits = (id: bigint): string => {
    word.setBigUint64(0, id);
    const high = word.getUint32(0);
    const low = word.getUint32(4);
    // A number cannot hold every ID exactly, so this quotient can be one too large or one too small.
    let top = Math.floor((high * TWO_32 + low) / unit);
    let rest = (high - top * unitHigh) * TWO_32 + (low - top * unitLow);
    if (rest < 0) {
      top--;
      rest += unit;
    } else if (rest >= unit) {
      top++;
      rest -= unit;
    }
    for (let at = width - 1; at >= 0; at--) {
      if (at === 2) rest = top;
      const above = Math.floor(rest / base);
      characters[at] = codes[rest - above * base] as number;
      rest = above;
    }
    return String.fromCharCode(...characters);
  };
  const write = native ?? digits;

  const writeShort = (id: bigint): string => {
    const text = write(id);
    let zeros = 0;
    // The last digit stays, even if it is the zero digit.
    while (zeros < width - 1 && text[zeros] === alphabet[0]) zeros++;
    return text.slice(zeros);
  };

  /** Reads from left to right, so everything before the position of an error is correct. */
  const read = (text: string, isShort: boolean): bigint => {
    if (typeof text !== "string") throw refuse("text", text, Rule.TEXT_STRING);
    const { length } = text;
    const wrong = (rule: string, at: number, max: unknown = width) => refuse("text", text, rule, at, max);
    const lengths = isShort ? Rule.TEXT_SHORT : Rule.TEXT_LENGTH;
    if (isShort && length > 1 && text[0] === alphabet[0]) throw wrong(Rule.TEXT_ZEROS, 0);
    let [top, rest] = [0, 0];
    for (let at = 0; at < length; at++) {
      if (at === width) throw wrong(lengths, at);
      const digit = values[text.charCodeAt(at)];
      if (digit === undefined) throw wrong(rule, at);
      if (length - at > width - 3) top = top * base + digit;
      else rest = rest * base + digit;
    }
    if (length < (isShort ? 1 : width)) throw wrong(lengths, length);
    const low = top * unitLow + (rest % TWO_32);
    const high = top * unitHigh + Math.floor(rest / TWO_32) + Math.floor(low / TWO_32);
    if (high >= TWO_32) {
      const largest = write(ANY_ID.maxId);
      let at = 0;
      while (text[at] === largest[at]) at++;
      throw wrong(Rule.ID_RANGE, at, ANY_ID.maxId);
    }
    word.setUint32(0, high);
    word.setUint32(4, low); // modulo 2^32
    return word.getBigUint64(0);
  };

  return Object.freeze({
    alphabet,
    width,
    ...calls(write, (text) => read(text, false)),
    short: Object.freeze(calls(writeShort, (text) => read(text, true))),
  });
}

/** Hexadecimal in lower case: 16 characters. */
export const hex: FixedForm = /* @__PURE__ */ form("0123456789abcdef", Rule.TEXT_HEX, (id) =>
  id.toString(16).padStart(16, "0"),
);

/** Crockford's base 32 in upper case: 13 characters. The first is `0` to `F`. */
export const base32: FixedForm = /* @__PURE__ */ form("0123456789ABCDEFGHJKMNPQRSTVWXYZ", Rule.TEXT_BASE32);

/** The base 58 of Bitcoin: 11 characters without ones that look alike. The zero digit is `1`. */
export const base58: FixedForm = /* @__PURE__ */ form(
  "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
  Rule.TEXT_BASE58,
);

/** Base 62, with digits before upper case before lower case: 11 characters. */
export const base62: FixedForm = /* @__PURE__ */ form(
  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
  Rule.TEXT_BASE62,
);

function checkBytes(bytes: unknown, rule: string, wanted: (length: number) => number): void {
  if (!isIdArray(bytes, "Uint8Array")) throw refuse("bytes", bytes, rule);
  const { length } = bytes as Uint8Array;
  if (length !== wanted(length)) throw refuse("bytes", bytes, rule, Math.min(length, wanted(length)));
}

function readBytes(bytes: Uint8Array): bigint {
  checkBytes(bytes, Rule.TEXT_BYTES, () => 8);
  scratch.set(bytes);
  return word.getBigUint64(0);
}

/** Eight bytes, the most significant first: for `BINARY(8)`, `bytea`, and keys of a store. */
export const bytes: ByteForm = /* @__PURE__ */ Object.freeze({
  encode(id: IdInput) {
    word.setBigUint64(0, parseId(ANY_ID, id));
    return scratch.slice();
  },
  decode: readBytes,
  tryDecode: (bytes: unknown) => attempt(readBytes, bytes),
  encodeMany(ids: BigUint64Array | readonly IdInput[]) {
    checkIds(ids);
    const words = new BigUint64Array(ids.length);
    each<IdInput, bigint>(ids, (id) => parseId(ANY_ID, id), words);
    const view = new DataView(words.buffer);
    for (let at = 0; at < words.length; at++) view.setBigUint64(8 * at, words[at] as bigint);
    return new Uint8Array(words.buffer);
  },
  decodeMany(bytes: Uint8Array) {
    checkBytes(bytes, Rule.TEXT_MANY_BYTES, (length) => 8 * Math.ceil(length / 8));
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const ids = new BigUint64Array(bytes.length / 8);
    for (let at = 0; at < ids.length; at++) ids[at] = view.getBigUint64(8 * at);
    return ids;
  },
});
