/** Keys and kinds as they are given: how the frame has them, and what their refusals say, which is never a key. */
import { bufferOf, isIdArray, lengthOf, offsetOf } from "../base/arrays.js";
import { configError, type FrazilError, factOf } from "../base/errors.js";
import { withoutValue } from "../base/value-text.js";
import { Place, RULES, Status } from "../generated/public.js";
import type { Rule } from "../generated/rules.js";

const isOtherText = (value: unknown): value is string => typeof value === "string" && value.length !== Place.KEY_WIDTH;

/** What a key may be. */
const described = (value: unknown): string =>
  isIdArray(value, "Uint8Array")
    ? `${lengthOf(value as Uint8Array)} bytes`
    : value === null || value === undefined
      ? `${value}`
      : isOtherText(value)
        ? `a string of ${value.length} characters`
        : typeof value === "object"
          ? "an object"
          : `a ${typeof value}`;

/** The error for a value that may be a key. */
export const hidden = (field: string, value: unknown, rule: string): FrazilError =>
  withoutValue("INVALID_OPTION", field, described(value), rule);

const UNSET = "Is the environment variable set? Make a key: npx frazil key new.";
const LENGTH = `A key has ${Place.KEY_WIDTH} characters. Look for spaces, quotes and line ends.`;

/** The error of a call about a key, or about its kind. */
export function refusalOf(status: number, field: string, key: unknown, kind: unknown): FrazilError {
  const rule = RULES[status] as Rule;
  if (status === Status.KIND_SYNTAX) return configError("INVALID_OPTION", "kind", kind, rule);
  const hint = key === undefined ? UNSET : isOtherText(key) && LENGTH;
  return hidden(field, key, hint && status === Status.KEY_TEXT ? `${factOf(rule)}\n${hint}` : rule);
}

/** Writes characters into the frame, and returns how many. More than fit are no text, kind or key. Other than ASCII becomes 0. */
export function write(text: Uint8Array, given: string, at: number): number {
  const length = Math.min(given.length, Place.KIND_AT);
  for (let index = 0; index < length; index++) {
    const code = given.charCodeAt(index);
    text[at + index] = code < 128 ? code : 0;
  }
  return length;
}

/** Writes a key into the frame, and returns how a call takes it; `undefined` if the value has no such type. */
export function writeKey(text: Uint8Array, key: unknown): number | undefined {
  // An empty text is written as a zero byte, which is no digit: a length of 0 stands for the bytes of a key.
  if (typeof key === "string") return write(text, key || "\0", 0);
  if (!isIdArray(key, "Uint8Array") || lengthOf(key as Uint8Array) !== 16) return undefined;
  const bytes = new Uint8Array(bufferOf(key as Uint8Array), offsetOf(key as Uint8Array), 16);
  for (let at = 0; at < 16; at++) text[at] = bytes[at] as number;
  return 0;
}

/** Writes a kind into the frame, and returns its length, which is that of none if it is no string. */
export const writeKind = (text: Uint8Array, kind: unknown): number =>
  typeof kind === "string" ? write(text, kind, Place.KIND_AT) : 0;

/** The fingerprint that a call left in the frame. */
export const fingerprintOf = (id: BigUint64Array): string => (id[0] as bigint).toString(16).padStart(16, "0");
