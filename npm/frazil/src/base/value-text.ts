/** Values as text in refusals: for an object its kind, without its values, which may be secret. */
import {
  ConfigError,
  configError,
  DecodeError,
  type ErrorCode,
  type FrazilError,
  factOf,
  refusal,
  saidOf,
  show,
  showName,
} from "./errors.js";

/** The article for the name of a class. An initial U usually sounds like "you". */
export const articleOf = (name: string): string => (/^[AEIO]/.test(name) ? "an" : "a");

function describe(value: object): string {
  if (Array.isArray(value)) return `an array of ${value.length}`;
  const name = Object.getPrototypeOf(value)?.constructor?.name ?? "Object";
  if (name === "Date") return new Date(value as Date).toJSON() ?? "an invalid Date";
  if (name === "Object")
    return `an object with ${Object.keys(value).slice(0, 8).map(showName).join(", ") || "no properties"}`;
  return `${articleOf(name)} ${showName(name)}`;
}

/** A value as shown in a message. */
function shown(value: unknown): string {
  try {
    return typeof value === "object" && value !== null ? describe(value) : show(value);
  } catch {
    // A Proxy can refuse inspection.
    return show(value);
  }
}

/** The error for a value, possibly an object, that breaks a rule. @internal */
export function describedError(
  code: ErrorCode,
  field: string,
  value: unknown,
  rule: string,
  min?: unknown,
  max?: unknown,
): FrazilError {
  const Class = code === "TIME_OUT_OF_RANGE" ? DecodeError : ConfigError;
  return refusal(Class, code, field, value, rule, min, max, undefined, shown(value));
}

/**
 * The error for a value without a meaning, such as that of an unknown option, or text instead of options. It may be a password or a
 * connection string, so neither the message nor `value` has it. @internal
 */
export function unshownError(code: ErrorCode, field: string, value: unknown, rule: string): FrazilError {
  const isText = typeof value === "string";
  if (!isText && (typeof value !== "object" || value === null)) return configError(code, field, value, rule);
  return withoutValue(code, field, isText ? "a string" : shown(value), rule);
}

/** The error for a value of which the message shows only the kind. @internal */
export const withoutValue = (code: ErrorCode, field: string, shown: string, rule: string): ConfigError =>
  new ConfigError(code, saidOf(field, rule, shown), { field, rule: factOf(rule) });
