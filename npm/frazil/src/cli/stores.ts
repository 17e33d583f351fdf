/** The stores of the commands that take one: their names, what people type for them, and the flags that only some of them have. */
import { hintOf } from "../base/option-keys.js";
import type { FlagName, Flags } from "./flags.js";
import { UsageError } from "./usage-error.js";

/** What a command has for each store, by its name. */
export type OfStores<T = unknown> = { readonly [store: string]: T & { readonly flags: readonly FlagName[] } };

/** Names under which people know a store. */
const ALIASES: readonly (readonly [RegExp, string])[] = [
  [/^pg|^postg|^psql|^neon|^supabase/i, "postgres"],
  [/^maria|^mysql/i, "mysql"],
  [/^valkey|^redis|^dragonfly|^keydb/i, "redis"],
  [/^sqlite|^better-sqlite/i, "sqlite"],
  [/^zk$|^zoo/i, "zookeeper"],
  [/^etcd/i, "etcd"],
];

/** The option `incarnation` of a store: a word as it is, such as its default, and else an expression in the language of the store. */
export const incarnationOf = <T>(language: "sql" | "lua", text: string | undefined) =>
  (text === undefined || /^[a-z]+(-[a-z]+)*$/.test(text) ? text : { [language]: text }) as T;

/** What to say of a name that is none of these stores, and which of them somebody means by it. */
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

/** The flags that some of these stores have, and others do not. */
export const flagsOfStores = (stores: OfStores): FlagName[] => [
  ...new Set(Object.values(stores).flatMap(({ flags }) => flags)),
];

/** Throws if a flag is given that only other stores have. */
export function refuseOtherFlags(command: string, name: string, stores: OfStores, given: Flags): void {
  const stray = flagsOfStores(stores).find((flag) => given[flag] !== undefined && !stores[name]?.flags.includes(flag));
  if (stray !== undefined) throw new UsageError(`--${stray} is not for ${command} ${name}`);
}
