/** Reading what is given as an object: unknown keys are refused, since a misspelt one would silently be a default. */
import { config, type ErrorCode } from "./errors.js";
import { Rule } from "./generated/rules.js";

/** An edit distance within which a misspelt name is recognised. */
const MAX_DISTANCE = 4;

/**
 * @param known The names of the keys, as they stand in the message.
 * @throws {ConfigError} with the code, for anything but an object with keys out of `known`.
 */
export function checkKeys<T>(
  code: ErrorCode,
  field: string,
  given: T,
  known: string,
  hint = (_key: string) => `: ${known}`,
): T & object {
  if (typeof given !== "object" || given === null) throw config(code, field, given, Rule.AN_OBJECT);
  for (const key of Object.keys(given)) {
    if (!known.split(", ").includes(key)) throw config(code, key, given[key as never], Rule.KNOWN_KEY + hint(key));
  }
  return given;
}

/** How many letters to put in, leave out or change to make one text of the other (Levenshtein). */
function distance(from: string, to: string): number {
  // From the letters so far to each beginning of `to`, row by row; `left` is the one before in the row that is being made.
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  let left = 0;
  for (const letter of from.split("")) {
    row = row.map((above, at) => {
      const changed = (row[at - 1] as number) + Number(letter !== to[at - 1]);
      left = at === 0 ? above + 1 : Math.min(above + 1, left + 1, changed);
      return left;
    });
  }
  return row[to.length] as number;
}

/**
 * @throws {ConfigError} `INVALID_OPTION` for anything but an object with keys out of `known`, with the nearest one.
 */
export function checkOptions(given: unknown, known: string): Record<string, unknown> {
  const hint = (key: string) => {
    let hint = ` (one of ${known})`;
    let least = MAX_DISTANCE + 1;
    for (const name of known.split(", ")) {
      const letters = distance(key, name);
      if (letters < least) {
        least = letters;
        hint = ` (did you mean ${name}?)`;
      }
    }
    return hint;
  };
  return checkKeys("INVALID_OPTION", "options", given, known, hint) as Record<string, unknown>;
}

/** The signal of an asynchronous call's options. */
export function signalOf(options: unknown): AbortSignal | undefined {
  if (options === undefined) return undefined;
  const { signal } = checkOptions(options, "signal");
  if (signal === undefined) return undefined;
  const { addEventListener, throwIfAborted } = (signal ?? {}) as Partial<AbortSignal>;
  if (typeof addEventListener !== "function" || typeof throwIfAborted !== "function")
    throw config("INVALID_OPTION", "signal", signal, Rule.A_SIGNAL);
  return signal as AbortSignal;
}
