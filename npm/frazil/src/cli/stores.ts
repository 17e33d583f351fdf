/** The stores of commands: their names, aliases, and the flags that only some of them have. */
import { hintOf } from "../base/option-keys.js";
import type { FlagName, Flags } from "./flags.js";
import { UsageError } from "./usage-error.js";

/** A command's entry for each store, by name. */
export type OfStores<T = unknown> = { readonly [store: string]: T & { readonly flags: readonly FlagName[] } };

/** Other names of stores. */
const ALIASES: readonly (readonly [RegExp, string])[] = [
  [/^pg|^postg|^psql|^neon|^supabase/i, "postgres"],
  [/^maria|^mysql/i, "mysql"],
  [/^valkey|^redis|^dragonfly|^keydb/i, "redis"],
  [/^sqlite|^better-sqlite/i, "sqlite"],
  [/^zk$|^zoo/i, "zookeeper"],
  [/^etcd/i, "etcd"],
];

/** The option `incarnation` of a store: a word as it is, such as the default, or else an expression in the store's language. */
export const incarnationOf = <T>(language: "sql" | "lua", text: string | undefined) =>
  (text === undefined || /^[a-z]+(-[a-z]+)*$/.test(text) ? text : { [language]: text }) as T;

/** The message for a name that is not one of these stores, and the store that was probably meant. */
export function notAStore(
  name: string,
  stores: OfStores,
): { readonly hint: string; readonly meant: string | undefined } {
  const names = Object.keys(stores).join(", ");
  const [, near] = /mean "(.*)"\?/.exec(hintOf(name.toLowerCase(), names, "")) ?? [];
  const meant = ALIASES.find(([alias]) => alias.test(name))?.[1] ?? near;
  return {
    hint: meant === undefined ? `Use one of ${names}:` : `Did you mean ${meant}?`,
    meant,
  };
}

/** The flags that only some of these stores have. */
export const flagsOfStores = (stores: OfStores): FlagName[] => [
  ...new Set(Object.values(stores).flatMap(({ flags }) => flags)),
];

/** Throws if a flag is given that only other stores have. */
export function refuseOtherFlags(command: string, name: string, stores: OfStores, given: Flags): void {
  const stray = flagsOfStores(stores).find((flag) => given[flag] !== undefined && !stores[name]?.flags.includes(flag));
  if (stray !== undefined) throw new UsageError(`--${stray} is not for ${command} ${name}`);
}
