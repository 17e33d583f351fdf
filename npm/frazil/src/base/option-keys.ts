/** Reads objects of options. Refuses unknown keys: a misspelt key would silently leave the default in place. */

import { type ErrorCode, showName } from "./errors.js";
import { ownOf } from "./own-properties.js";
import { PackageRule } from "./package-rules.js";
import { describedError, unshownError } from "./value-text.js";

/** The largest edit distance for suggesting a known name. */
const MAX_DISTANCE = 4;

/** The Levenshtein distance: the letters to insert, delete or change to turn one text into the other. */
function distance(from: string, to: string): number {
  // `row` has the distance from the letters so far to each prefix of `to`. `left` is the previous entry of the new row.
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  let left = 0;
  // A key from outside may be long. Its first 32 letters are then already too far from every name.
  for (const letter of from.split("", 32)) {
    row = row.map((above, at) => {
      const changed = (row[at - 1] as number) + Number(letter !== to[at - 1]);
      left = at === 0 ? above + 1 : Math.min(above + 1, left + 1, changed);
      return left;
    });
  }
  return row[to.length] as number;
}

/** The hint for an unknown name: the nearest known one, or else `hint`. */
export function hintOf(key: string, known: string, hint = `Use one of ${known}.`): string {
  // A name that shares fewer than half of the letters was not meant: "step" for "scope".
  let least = Math.min(MAX_DISTANCE, key.length / 2) + 1 / 2;
  for (const name of known.split(", ")) {
    const letters = distance(key, name);
    if (letters < least) {
      least = letters;
      hint = `Did you mean "${name}"?`;
    }
  }
  return hint;
}

/** Other packages' names for a node id and an epoch. */
const NODES = /^(worker|machine|instance|server|process|shard|data_?cent|region|m?id$)/i;

/** Our name for another package's key; any other key unchanged. */
const ourName = (key: string): string => (/epoch/i.test(key) ? "epochMs" : NODES.test(key) ? "node" : key);

/** The message and the hint for an unknown name. */
export const unknownKey = (code: ErrorCode, key: string, hint: string): string =>
  `unknown ${code === "INVALID_OPTION" ? "option" : "property"} "${showName(key)}"\n${hint}`;

/** The error for an object with a class: its inherited properties would silently be ignored. */
function notPlain(code: ErrorCode, field: string, value: object, known: string): Error {
  const isShort = known === "signal" || Array.isArray(value);
  const cure = isShort ? `Write { ${known} }.` : "Spread it, { ...options }, or name its fields.";
  return describedError(code, field, value, `${PackageRule.AN_OBJECT}\n${cure}`);
}

/**
 * Reads the own properties of an object, each value once, and checks their names. An object with a class is accepted if
 * all known names are its own properties, as for a layout or a decoded ID of any copy of the package.
 *
 * @param known The names of the keys, as the message lists them.
 * @param ignored Further keys that are allowed.
 * @throws {ConfigError} with `code`, if the value is not a plain object or has another key. The hint suggests the
 * nearest name.
 */
export function checkKeys<T>(code: ErrorCode, field: string, given: T, known: string, ignored = ""): T & object {
  if (typeof given !== "object" || given === null)
    throw unshownError(code, field, given, `${PackageRule.AN_OBJECT}\nWrite { ${known} }.`);
  const own = ownOf(given);
  const prototype: unknown = Object.getPrototypeOf(given);
  // Also true for objects of another realm.
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!isPlain && !known.split(", ").every((name) => name in own)) throw notPlain(code, field, given, known);
  // The lists are split separately: the engine caches the result for a constant string, but not for a concatenation.
  const names = known.split(", ");
  const others = ignored.split(", ");
  for (const key of Object.keys(own)) {
    if (names.includes(key) || others.includes(key)) continue;
    const name = ourName(key);
    const hint = hintOf(names.includes(name) ? name : key, known);
    throw unshownError(code, showName(key), own[key as never], unknownKey(code, key, hint));
  }
  return own;
}
