/** How the errors of stores name what somebody passed: never by its values, since a connection string contains a password. */
import { ConfigError, configError, type FrazilError, showName } from "../../base/errors.js";
import { checkKeys } from "../../base/option-keys.js";
import { articleOf } from "../../base/value-text.js";

/** What a value is, without its text. */
export function described(given: unknown): string {
  if (given === null || (typeof given !== "object" && typeof given !== "function"))
    return given === null || given === undefined ? `${given}` : `a ${typeof given}`;
  const keys = Object.keys(given).slice(0, 4).map(showName).join(", ");
  return `${typeof given === "function" ? "a function" : "an object"} with ${keys || "no properties of its own"}`;
}

/** `INVALID_ARGUMENT` for what is no client. */
export function clientError(client: unknown, clientRule: string, field = "client"): ConfigError {
  const [kind, rule] =
    client instanceof Promise ? ["a promise", `${clientRule}: await it`] : [described(client), clientRule];
  return new ConfigError("INVALID_ARGUMENT", `${field} is ${kind}: ${rule}`, { field, rule });
}

/** `INVALID_OPTION` for an option of a store. */
export const optionError = (field: string, value: unknown, rule: string): ConfigError =>
  new ConfigError("INVALID_OPTION", `${field} is ${described(value)}: ${rule}`, { field, rule });

/** `checkKeys` for options beside a client: what has a name that is not known may be its password or its connection string. */
export function checkGiven<T>(given: T, known: string, ignored?: string, name = "options"): T & object {
  try {
    return checkKeys("INVALID_OPTION", name, given, known, ignored);
  } catch (error) {
    const { field = name, value, rule = "" } = error as ConfigError;
    throw typeof value === "string" || (typeof value === "object" && value !== null)
      ? optionError(field, value, rule)
      : error;
  }
}

/** The error for what is no store, such as the client that a store takes. Never its text or its properties: they may be a
 * connection string, which contains a password. */
export function noStore(store: unknown, rule: string): FrazilError {
  const details = { field: "store", rule };
  const own =
    Object(store) === store ? (typeof store === "function" ? store : (store as object).constructor) : undefined;
  const { name } = (own ?? {}) as { name?: unknown };
  if (typeof store === "string" || own === Object)
    return new ConfigError("INVALID_ARGUMENT", `store is ${described(store)}: ${rule}`, details);
  if (typeof name !== "string" || name === "") return configError("INVALID_ARGUMENT", "store", store, rule);
  const kind = typeof store !== "function" ? articleOf(name) : isClass(store) ? "the class" : "the function";
  return new ConfigError("INVALID_ARGUMENT", `store is ${kind} ${showName(name)}: ${rule}`, details);
}

/** Whether a function was written as a class. */
const isClass = (value: object) => /^class\b/.test(Function.prototype.toString.call(value));
