/**
 * Public IDs: texts that show neither the time, the node nor the number of IDs, and that only a key turns back. The database keeps the
 * number. The rules are those of the core, in a WebAssembly module of their own.
 *
 * ```js
 * import { publicIds } from "frazil/public";
 *
 * const users = publicIds({ kind: "user", keys: [process.env.ID_KEY] }); // made by `npx frazil key new`
 * const text = users.encode(1541815603606036480n); // 22 characters
 * users.decode(text); // 1541815603606036480n
 * ```
 */
import { bufferOf, isIdArray, lengthOf, offsetOf } from "../base/arrays.js";
import {
  configError,
  DecodeError,
  type ErrorDetails,
  type FrazilError,
  factOf,
  isWhole,
  refusal,
} from "../base/errors.js";
import { checkKeys } from "../base/option-keys.js";
import { ownOf, placeOf, putOwn } from "../base/own-properties.js";
import { PackageRule } from "../base/package-rules.js";
import { withoutValue } from "../base/value-text.js";
import { LAYOUT_BITS } from "../generated/layout-bits.js";
import { Place, RULES } from "../generated/public.js";
import { Rule } from "../generated/rules.js";
import { type IdInput, type LayoutName, parseId } from "../layout/id.js";
import { call, core, coreWith, type Opened, open, takeOpened, write } from "./core.js";

export { ConfigError, DecodeError, type ErrorCode, FrazilError } from "../base/errors.js";
export type { IdInput, LayoutName } from "../layout/id.js";

/** The part of a layout that the range of its IDs depends on. Each `Layout` has it. */
export interface LayoutFields {
  readonly fields: readonly { readonly bits: number }[];
}

/** A key: the text that `npx frazil key new` prints, or 16 random bytes, which are copied. */
export type PublicKey = string | Uint8Array;

/** A key of short texts. */
export interface ShortKey {
  /** The number that its texts show: 0 to 4, in layouts of 64 bits 0 or 1. Never use it again for another key. */
  readonly slot: number;
  readonly key: PublicKey | undefined;
}

/** What both forms have in common. */
interface CommonOptions<K extends string> {
  /** What the IDs are of, such as `"user"`: each kind has keys of its own, derived from those given. */
  readonly kind: K;
  /** The layout, which bounds the IDs. Default: `"default"`. */
  readonly layout?: LayoutName | LayoutFields | undefined;
}

/** The options for sealed texts: 22 characters, which nobody can make up without a key. */
export interface SealedOptions<K extends string = string> extends CommonOptions<K> {
  readonly form?: "sealed" | undefined;
  /** The first key encodes. Each of them decodes. `undefined`, as of a variable that is not set, is refused at run time. */
  readonly keys: readonly (PublicKey | undefined)[];
}

/** The options for short texts: 11 characters, without integrity. Other texts open as other IDs. */
export interface ShortOptions<K extends string = string> extends CommonOptions<K> {
  readonly form: "short";
  /** The first key encodes. Each of them decodes the texts with its slot. */
  readonly keys: readonly ShortKey[];
}

/** Public texts of the IDs of one kind. All methods work detached. */
export interface PublicIds<K extends string = string, F extends "sealed" | "short" = "sealed" | "short"> {
  readonly kind: K;
  readonly form: F;
  readonly layout: LayoutName | LayoutFields;
  /** A name for each key, of 16 hexadecimal digits, which does not help to find the key. */
  readonly fingerprints: readonly string[];
  /**
   * The text of an ID.
   *
   * @throws {DecodeError} `INVALID_ID` if the value is not exactly an ID of the layout.
   */
  readonly encode: (id: IdInput) => string;
  /**
   * The ID of a text.
   *
   * @throws {DecodeError} `INVALID_TEXT` if `encode` does not write it with one of the keys.
   */
  readonly decode: (text: string) => bigint;
}

/** What a key may be, in an error: never the key. */
const described = (value: unknown): string =>
  isIdArray(value, "Uint8Array")
    ? `${lengthOf(value as Uint8Array)} bytes`
    : value === null || value === undefined
      ? `${value}`
      : typeof value === "string" && value.length !== KEY_WIDTH
        ? `a string of ${value.length} characters`
        : typeof value === "object"
          ? "an object"
          : `a ${typeof value}`;

const hidden = (field: string, value: unknown, rule: string): FrazilError =>
  withoutValue("INVALID_OPTION", field, described(value), rule);

const KEY_UNSET = "Is the environment variable set? Make a key: npx frazil key new.";
/** How many characters a key has: in the frame, the fingerprint follows it. */
const KEY_WIDTH = Place.FINGERPRINT_AT;
const KEY_LENGTH = `A key has ${KEY_WIDTH} characters. Look for spaces, quotes and line ends.`;

/** The rule of keys, with the hint for a value. */
const keyRule = (key: unknown): string =>
  key === undefined
    ? `${factOf(Rule.KEY_TEXT)}\n${KEY_UNSET}`
    : typeof key === "string" && key.length !== KEY_WIDTH
      ? `${factOf(Rule.KEY_TEXT)}\n${KEY_LENGTH}`
      : Rule.KEY_TEXT;

function bitsOf(layout: LayoutName | LayoutFields): number {
  const bits: unknown =
    typeof layout === "string"
      ? Object.hasOwn(LAYOUT_BITS, layout) && LAYOUT_BITS[layout]
      : layout?.fields?.reduce?.((sum, field) => (isWhole(field?.bits, 1, 64) ? sum + field.bits : NaN), 0);
  if (!isWhole(bits, 1, 64)) throw configError("INVALID_LAYOUT", "layout", layout, PackageRule.A_LAYOUT);
  return bits;
}

/** The bytes of the frame from one place to before another, in hexadecimal. */
function hexadecimal(from: number, end: number): string {
  const { text } = core();
  let digits = "";
  for (let at = from; at < end; at++) digits += ((text[at] as number) + 256).toString(16).slice(1);
  return digits;
}

/** Eleven characters of the frame. With listed arguments the call takes a third of the time of one with a spread array. */
const eleven = (text: { readonly [at: number]: number }, at: number): string =>
  // biome-ignore format: a row for each few digits.
  String.fromCharCode(
    text[at] as number, text[at + 1] as number, text[at + 2] as number, text[at + 3] as number,
    text[at + 4] as number, text[at + 5] as number, text[at + 6] as number, text[at + 7] as number,
    text[at + 8] as number, text[at + 9] as number, text[at + 10] as number,
  );

/** Writes a key into the frame. Returns how `open` takes it; `undefined` if the value has no such type; -1 for equal bytes. */
function writeKey(key: unknown): number | undefined {
  // An empty text is written as a zero byte, which is no digit: a length of 0 stands for the bytes of a key.
  if (typeof key === "string") return write(key || "\0", 0, Place.KIND_AT);
  if (!isIdArray(key, "Uint8Array") || lengthOf(key as Uint8Array) !== 16) return undefined;
  const bytes = new Uint8Array(bufferOf(key as Uint8Array), offsetOf(key as Uint8Array), 16);
  const { text } = core();
  let differing = 0;
  for (let at = 0; at < 16; at++) {
    text[at] = bytes[at] as number;
    differing |= (bytes[at] as number) ^ (bytes[0] as number);
  }
  return differing ? 0 : -1;
}

/** Opens a key in the frame, for `read`, which finds there what the key became, and in `text` what else is known of it. It never throws. */
function opening<T>(place: string, key: unknown, kind: unknown, bits: number, slot: unknown, read: () => T): T {
  const field = slot === undefined ? place : `${place}.key`;
  const length = writeKey(key);
  const kindLength = typeof kind === "string" ? write(kind, Place.KIND_AT, Place.KIND_AT) : 0;
  // Above the last slot for whatever is none, since the core decides which there are.
  const number = slot === undefined ? -1 : isWhole(slot, 0, 255) ? slot : 255;
  if (length === -1) throw hidden(field, key, PackageRule.KEY_FILLED);
  const rule = length === undefined ? Rule.KEY_TEXT : RULES[open(length, kindLength, bits, number)];
  if (rule === Rule.WHOLE_NUMBER) throw configError("INVALID_OPTION", `${place}.slot`, slot, rule, 0, core().id[0]);
  if (rule === Rule.KIND_SYNTAX) throw configError("INVALID_OPTION", "kind", kind, rule);
  if (rule) throw hidden(field, key, rule === Rule.KEY_TEXT ? keyRule(key) : rule);
  const found = read();
  const { text } = core();
  for (let at = 0; at < Place.DERIVED_END; at++) text[at] = 0;
  return found;
}

/** What the command line prints of a key. @internal */
export const keyFacts = (
  key: PublicKey,
  kind = "kind",
  form = "sealed",
): { fingerprint: string; derived: string; text: string } =>
  opening("key", key, kind, 63, form === "short" ? 0 : undefined, () => ({
    fingerprint: hexadecimal(Place.FINGERPRINT_AT, Place.DERIVED_AT),
    derived: hexadecimal(Place.DERIVED_AT, Place.DERIVED_END),
    text: String.fromCharCode(...core().text.subarray(0, KEY_WIDTH)),
  }));

/**
 * Texts of the IDs of one kind.
 *
 * @throws {ConfigError} `INVALID_OPTION` for a wrong option, without the value of a key; `INVALID_LAYOUT` for a layout;
 * `WASM_UNAVAILABLE` where WebAssembly is.
 */
export function publicIds<const K extends string>(options: ShortOptions<K>): PublicIds<K, "short">;
// The last, since compilers explain why this one does not match.
export function publicIds<const K extends string>(options: SealedOptions<K>): PublicIds<K, "sealed">;
export function publicIds(options: SealedOptions | ShortOptions): PublicIds {
  const given = checkKeys("INVALID_OPTION", "options", options, "kind, keys, layout, form");
  const { kind, keys, layout = "default", form = "sealed" } = given;
  const isShort = form === "short";
  if (!isShort && form !== "sealed") throw configError("INVALID_OPTION", "form", form, PackageRule.PUBLIC_FORM);
  const bits = bitsOf(layout);
  const count: unknown = Array.isArray(keys) && keys.length;
  if (!isWhole(count, 1, 2 ** 32)) throw hidden("keys", keys, PackageRule.KEYS);
  const [opened, fingerprints, slots]: [Opened[], string[], unknown[]] = [[], [], []];
  for (let at = 0; at < count; at++) {
    const given: unknown = keys[at];
    const field = `keys[${at}]`;
    const { slot, key } = (isShort ? ownOf(given as ShortKey) : { slot: undefined, key: given }) as ShortKey;
    if (isShort && slot === undefined) throw hidden(field, given, PackageRule.SLOT_KEY);
    if (isShort && placeOf(slots, slot) >= 0)
      throw configError("INVALID_OPTION", `${field}.slot`, slot, PackageRule.OTHER_SLOT);
    if (isShort) checkKeys("INVALID_OPTION", field, given as ShortKey, "slot, key");
    putOwn(slots, at, slot);
    const fingerprint = opening(field, key, kind, bits, slot, () => {
      putOwn(opened, at, takeOpened());
      return hexadecimal(Place.FINGERPRINT_AT, Place.DERIVED_AT);
    });
    if (placeOf(fingerprints, fingerprint) >= 0) throw hidden(field, key, PackageRule.OTHER_KEY);
    putOwn(fingerprints, at, fingerprint);
  }
  const range = { maxId: 2n ** BigInt(bits) - 1n };
  const first = opened[0] as Opened;
  /** The rule of a text that another key may open. */
  const elsewhere = isShort ? Rule.SHORT_SLOT : Rule.SEALED_TEXT;
  const refuse = (text: unknown, rule: string, max?: unknown, details?: ErrorDetails) =>
    refusal(DecodeError, "INVALID_TEXT", "text", text, rule, 0, max, details);

  return Object.freeze({
    kind,
    form,
    layout,
    fingerprints: Object.freeze(fingerprints),
    encode(id: IdInput): string {
      const number = parseId(range, id);
      const { exports, id: ids, text } = coreWith(first);
      ids[0] = number;
      // The frame has a key, and the ID is in its range: otherwise it writes nothing, and still has another text.
      if (call(exports.encode)) throw hidden("keys", undefined, Rule.KEY_TEXT);
      return isShort ? eleven(text, 0) : eleven(text, 0) + eleven(text, 11);
    },
    decode(text: string): bigint {
      if (typeof text !== "string") throw refuse(text, PackageRule.TEXT_STRING);
      const length = write(text, 0, Place.KIND_AT);
      let rule: Rule | undefined = elsewhere;
      for (let at = 0; at < count && rule === elsewhere; at++)
        rule = RULES[call(coreWith(opened[at] as Opened).exports.decode, length)];
      const found = core().id[0] as bigint;
      if (!rule) return found;
      if (rule === Rule.SHORT_SLOT) throw refuse(text, rule, slots.join(" or "));
      if (rule === Rule.SEALED_TEXT) throw refuse(text, rule.replace("{kind}", `the kind "${kind}"`));
      throw refuse(text, rule, isShort ? Place.SHORT_WIDTH : Place.SEALED_WIDTH, { position: Number(found) });
    },
  });
}
