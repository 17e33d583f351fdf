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
import { configError, DecodeError, type ErrorDetails, isWhole, refusal } from "../base/errors.js";
import { checkKeys } from "../base/option-keys.js";
import { putOwn } from "../base/own-properties.js";
import { PackageRule } from "../base/package-rules.js";
import { Place, RULES, Status } from "../generated/public.js";
import { Rule } from "../generated/rules.js";
import { type IdInput, type LayoutName, parseId } from "../layout/id.js";
import { bitsOf } from "../layout/width.js";
import { call, core, coreWith, open, takeOpened } from "./core.js";
import { fingerprintOf, hidden, refusalOf, write, writeKey, writeKind } from "./key.js";

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

/** Eleven characters of the frame. With listed arguments the call takes a third of the time of one with a spread array. */
const eleven = (text: { readonly [at: number]: number }, at: number): string =>
  // biome-ignore format: a row for each few digits.
  String.fromCharCode(
    text[at] as number, text[at + 1] as number, text[at + 2] as number, text[at + 3] as number,
    text[at + 4] as number, text[at + 5] as number, text[at + 6] as number, text[at + 7] as number,
    text[at + 8] as number, text[at + 9] as number, text[at + 10] as number,
  );

/** Opens a key of a list, and returns its fingerprint. */
function opening(at: number, isShort: boolean, { slot, key }: ShortKey, kind: unknown, bits: number): string {
  const place = `keys[${at}]`;
  const { text, id } = core();
  const length = writeKey(text, key);
  const kindLength = writeKind(text, kind);
  // Above the last slot for whatever is none, since the core decides which there are.
  const number = isShort ? (isWhole(slot, 0, 255) ? slot : 255) : -1;
  const status = length === undefined ? Status.KEY_TEXT : open(length, kindLength, bits, number, at);
  if (status === Status.WHOLE_NUMBER || status === Status.OTHER_SLOT)
    throw configError("INVALID_OPTION", `${place}.slot`, slot, RULES[status] as Rule, 0, id[0]);
  if (status) throw refusalOf(status, isShort ? `${place}.key` : place, key, kind);
  return fingerprintOf(id);
}

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
  if (!bits) throw configError("INVALID_LAYOUT", "layout", layout, PackageRule.A_LAYOUT);
  const count: unknown = Array.isArray(keys) && keys.length;
  if (!isWhole(count, 1, Place.MAX_KEYS)) throw hidden("keys", keys, Rule.KEY_COUNT);
  const entries: ShortKey[] = [];
  for (let at = 0; at < count; at++) {
    const entry = keys[at] as ShortKey;
    const field = `keys[${at}]`;
    if (isShort && !Object.hasOwn(Object(entry), "slot")) throw hidden(field, entry, PackageRule.SLOT_KEY);
    // Own properties, and each is read once.
    putOwn(
      entries,
      at,
      isShort ? checkKeys("INVALID_OPTION", field, entry, "slot, key") : { slot: 0, key: entry as never },
    );
  }
  // No code of the caller runs from here on, since the frame has the keys so far.
  const fingerprints: string[] = [];
  for (let at = 0; at < count; at++)
    putOwn(fingerprints, at, opening(at, isShort, entries[at] as ShortKey, kind, bits));
  const opened = takeOpened(count);
  const range = { maxId: 2n ** BigInt(bits) - 1n };
  const width = isShort ? Place.SHORT_WIDTH : Place.SEALED_WIDTH;
  const refuse = (text: unknown, rule: string, details?: ErrorDetails) =>
    refusal(DecodeError, "INVALID_TEXT", "text", text, rule, 0, width, details);

  return Object.freeze({
    kind,
    form,
    layout,
    fingerprints: Object.freeze(fingerprints),
    encode(id: IdInput): string {
      const number = parseId(range, id);
      const { exports, id: ids, text } = coreWith(opened);
      ids[0] = number;
      // The frame has a key, and the ID is in its range: otherwise it writes nothing, and still has another text.
      if (call(exports.encode)) throw hidden("keys", undefined, Rule.KEY_TEXT);
      return isShort ? eleven(text, 0) : eleven(text, 0) + eleven(text, 11);
    },
    decode(text: string): bigint {
      if (typeof text !== "string") throw refuse(text, PackageRule.TEXT_STRING);
      const { exports, id, text: room } = coreWith(opened);
      const rule = RULES[call(exports.decode, write(room, text, 0))];
      const found = id[0] as bigint;
      if (!rule) return found;
      // Without a position, the number is larger than any text.
      const said = rule.replace("{kind}", `the kind "${kind}"`);
      throw refuse(text, said, found < Place.TEXT_BYTES ? { position: Number(found) } : undefined);
    },
  });
}
