/** How the errors of stores name what somebody passed: never by its values, since a connection string contains a password. */
import { ConfigError } from "../errors.js";
import { checkKeys } from "../keys.js";

/** What a value is, without its text. */
export function described(given: unknown): string {
  if (given === null || (typeof given !== "object" && typeof given !== "function"))
    return given === null || given === undefined ? `${given}` : `a ${typeof given}`;
  const keys = Object.keys(given).slice(0, 4).join(", ");
  return `${typeof given === "function" ? "a function" : "an object"} with ${keys || "no properties of its own"}`;
}

/** `INVALID_ARGUMENT` for what is no client. */
export const clientError = (client: unknown, rule: string): ConfigError =>
  new ConfigError("INVALID_ARGUMENT", `client is ${described(client)}: ${rule}`, { field: "client", rule });

/** `INVALID_OPTION` for an option of a store. */
export const optionError = (field: string, value: unknown, rule: string): ConfigError =>
  new ConfigError("INVALID_OPTION", `${field} is ${described(value)}: ${rule}`, { field, rule });

/** `checkKeys` for options beside a client: what has a name that is not known may be its password or its connection string. */
export function checkGiven<T>(given: T, known: string, ignored?: string): T & object {
  try {
    return checkKeys("INVALID_OPTION", "options", given, known, ignored);
  } catch (error) {
    const { field = "options", value, rule = "" } = error as ConfigError;
    throw typeof value === "string" || (typeof value === "object" && value !== null)
      ? optionError(field, value, rule)
      : error;
  }
}
