/** Reading what is given as an object: unknown keys are refused, since a misspelt one would silently be a default. */
import { ConfigError, configError, type ErrorCode } from "./errors.js";
import { Rule } from "./generated/rules.js";
import { ownOf } from "./own.js";

/** An edit distance within which a misspelt name is recognised. */
const MAX_DISTANCE = 4;

/** How many letters to put in, leave out or change to make one text of the other (Levenshtein). */
function distance(from: string, to: string): number {
  // From the letters so far to each beginning of `to`, row by row; `left` is the one before in the row that is being made.
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  let left = 0;
  // A key that came from outside may be long, and then its beginning is as far from every name.
  for (const letter of from.split("", 32)) {
    row = row.map((above, at) => {
      const changed = (row[at - 1] as number) + Number(letter !== to[at - 1]);
      left = at === 0 ? above + 1 : Math.min(above + 1, left + 1, changed);
      return left;
    });
  }
  return row[to.length] as number;
}

/** What to write instead of a name that is not known. */
export function hintOf(key: string, known: string, hint = ` (one of ${known})`): string {
  let least = MAX_DISTANCE + 1;
  for (const name of known.split(", ")) {
    const letters = distance(key, name);
    // A name that has no letter in common is none that was meant.
    if (letters < least && letters < name.length) {
      least = letters;
      hint = ` (did you mean ${name}?)`;
    }
  }
  return hint;
}

/** The refusal of an object with a class: what is not its own would silently be a default. */
function notPlain(code: ErrorCode, field: string, value: object, known: string): Error {
  const { name } = (value.constructor ?? Object) as { name?: unknown };
  const cure = known === "signal" ? ": { signal }" : "; spread it ({ ...options }) or name its fields";
  const rule = Rule.AN_OBJECT + cure;
  return new ConfigError(code, `${field} is ${/^[AEIOU]/.test(`${name}`) ? "an" : "a"} ${name}: ${rule}`, {
    field,
    value,
    rule,
  });
}

/**
 * What the object itself has, each value read once. A class's own object is taken where all of the names are its own, as those
 * of a layout or of what was decoded are, in whichever copy of the package.
 *
 *
 * @param known The names of the keys, as they stand in the message.
 * @param ignored More keys that may be there.
 * @throws {ConfigError} with the code, for anything but a plain object with keys out of these, with the nearest one.
 */
export function checkKeys<T>(code: ErrorCode, field: string, given: T, known: string, ignored = ""): T & object {
  if (typeof given !== "object" || given === null) throw configError(code, field, given, Rule.AN_OBJECT);
  const own = ownOf(given);
  const prototype: unknown = Object.getPrototypeOf(given);
  // Of whichever realm.
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!isPlain && !known.split(", ").every((name) => name in own)) throw notPlain(code, field, given, known);
  // Each list by itself: the engine remembers how a constant is split, and not how two are that were put together.
  const isIn = (names: string, key: string) => names.split(", ").includes(key);
  for (const key of Object.keys(own)) {
    if (!isIn(known, key) && !isIn(ignored, key))
      throw configError(code, key, own[key as never], Rule.KNOWN_KEY + hintOf(key, known));
  }
  return own;
}
