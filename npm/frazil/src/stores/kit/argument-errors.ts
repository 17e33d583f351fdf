/** How the errors of stores name an argument: never by its values, since a connection string contains a password. */
import { type ConfigError, configError, type FrazilError, showName } from "../../base/errors.js";
import { checkKeys } from "../../base/option-keys.js";
import { fromOutside } from "../../base/outside-text.js";
import { PackageRule } from "../../base/package-rules.js";
import { articleOf, withoutValue } from "../../base/value-text.js";

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
    client instanceof Promise ? ["a promise", `${clientRule}\nAwait it.`] : [described(client), clientRule];
  return withoutValue("INVALID_ARGUMENT", field, kind, rule);
}

/** `INVALID_OPTION` for an option of a store. */
export const optionError = (field: string, value: unknown, rule: string): ConfigError =>
  withoutValue("INVALID_OPTION", field, described(value), rule);

/** Options that are often given to the other one of a lease and its store. */
const OF_STORES = ["schema incarnation database prefix", "the store"] as const;
const OF_LEASES = ["scope windowMs owner time renew", "lease()"] as const;

/** `checkKeys` for options beside a client: what has a name that is not known may be its password or its connection string. */
export function checkGiven<T>(given: T, known: string, ignored?: string, name = "options"): T & object {
  try {
    return checkKeys("INVALID_OPTION", name, given, known, ignored);
  } catch (error) {
    const { field = name, value, rule = "", hint = "" } = error as ConfigError;
    const [elsewhere, owner] = known.includes("windowMs") ? OF_STORES : OF_LEASES;
    if (rule.startsWith("unknown") && elsewhere.split(" ").includes(field))
      (error as { hint?: string }).hint = `It is an option of ${owner}.`;
    throw typeof value === "string" || (typeof value === "object" && value !== null)
      ? optionError(field, value, `${rule}\n${hint}`)
      : error;
  }
}

/** The error for what is no store, such as the client that a store takes. Never its text or its properties: they may be a
 * connection string, which contains a password. */
export function noStore(store: unknown, rule: string): FrazilError {
  const own =
    Object(store) === store ? (typeof store === "function" ? store : (store as object).constructor) : undefined;
  const { name } = (own ?? {}) as { name?: unknown };
  if (typeof store === "string" || own === Object)
    return withoutValue("INVALID_ARGUMENT", "store", described(store), rule);
  if (typeof name !== "string" || name === "") return configError("INVALID_ARGUMENT", "store", store, rule);
  const kind = typeof store !== "function" ? articleOf(name) : isClass(store) ? "the class" : "the function";
  return withoutValue("INVALID_ARGUMENT", "store", `${kind} ${showName(name)}`, rule);
}

/** The name of a store for errors. Read once, since timers make some of them, where a getter of the user must not throw. */
export function nameOfStore({ name }: { readonly name: unknown }): string {
  if (typeof name !== "string") throw configError("INVALID_ARGUMENT", "store.name", name, PackageRule.TEXT_STRING);
  return fromOutside(name);
}

/** Whether a function was written as a class. */
const isClass = (value: object) => /^class\b/.test(Function.prototype.toString.call(value));
