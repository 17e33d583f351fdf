/** Reading options: unknown keys are refused with the nearest name, since a misspelt one would silently be a default. */
import leven from "leven";
import { ConfigError, refusal } from "./errors.js";
import * as rules from "./generated/rules.js";

/** An edit distance within which a misspelt name is recognised. */
const MAX_DISTANCE = 4;

/**
 * @throws {ConfigError} `INVALID_OPTION` for anything but an object with keys out of `known`.
 */
export function checkOptions(given: unknown, known: readonly string[]): Record<string, unknown> {
  if (typeof given !== "object" || given === null)
    throw refusal(ConfigError, "INVALID_OPTION", "options", given, rules.AN_OBJECT);
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue;
    const distance = (name: string) => leven(key, name);
    const [nearest] = known.filter((name) => distance(name) <= MAX_DISTANCE).sort((a, b) => distance(a) - distance(b));
    const hint = nearest === undefined ? `one of ${known.join(", ")}` : `did you mean ${nearest}?`;
    throw refusal(
      ConfigError,
      "INVALID_OPTION",
      key,
      (given as Record<string, unknown>)[key],
      `${rules.KNOWN_KEY} (${hint})`,
    );
  }
  return given as Record<string, unknown>;
}

/** The signal of an asynchronous call's options. */
export function signalOf(options: unknown): AbortSignal | undefined {
  if (options === undefined) return undefined;
  const { signal } = checkOptions(options, ["signal"]);
  if (signal === undefined) return undefined;
  const { addEventListener, throwIfAborted } = (signal ?? {}) as Partial<AbortSignal>;
  if (typeof addEventListener !== "function" || typeof throwIfAborted !== "function")
    throw refusal(ConfigError, "INVALID_OPTION", "signal", signal, rules.A_SIGNAL);
  return signal as AbortSignal;
}
