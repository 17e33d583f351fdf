/** The options of a store, and what they make of a script. */
import { checkGiven, optionError } from "../kit/argument-errors.js";
import { EVICTION, EXPRESSION, SERVER } from "./lease-scripts.js";

/** What the user of a program must be allowed. `@connection` is for the client itself, and `exists` for `init`. */
export const ACL_RULE =
  "~frazil:* -@all +@connection -@dangerous +eval +info +time +hget +hmget +hset +hsetnx +hdel +zadd +zrem +zrange +exists +ttl";

/** The options of a `RedisStore`. */
export interface RedisStoreOptions {
  /**
   * How a server is told from the one that replaced it after a failover or a restart.
   *
   * - `"redis"` (default): `run_id` and `master_replid` of `INFO`. The store then also refuses a server whose settings lose
   *   leases: a replica, an eviction policy other than `noeviction`, replicas without `min-replicas-to-write`.
   * - `{ lua }`: a Lua expression of your own, a string that changes whenever acknowledged writes may have been lost. No setting
   *   of the server is looked at.
   * - `"none-accepting-repeats-after-failover"`: not at all. If a server goes on without the last writes, IDs repeat. No setting
   *   of the server is looked at.
   */
  readonly incarnation?: "redis" | { readonly lua: string } | "none-accepting-repeats-after-failover";
}

const INCARNATION_RULE = 'must be "redis", { lua } with a Lua expression, or "none-accepting-repeats-after-failover"';

/** Puts the incarnation into a script. */
export function completion(options: RedisStoreOptions): (script: string) => string {
  const { incarnation = "redis" } = checkGiven(options, "incarnation") as RedisStoreOptions;
  let lua: unknown;
  if (incarnation === "none-accepting-repeats-after-failover") lua = '""';
  else if (incarnation !== "redis") lua = (incarnation as { lua?: unknown } | null)?.lua;
  if (incarnation !== "redis" && (typeof lua !== "string" || lua.trim() === ""))
    throw optionError("incarnation", incarnation, INCARNATION_RULE);
  const parts: Record<string, string> =
    lua === undefined
      ? { incarnation: SERVER, eviction: EVICTION }
      : { incarnation: EXPRESSION.replace("{lua}", () => lua as string), eviction: "" };
  return (script) => script.replace(/\{(incarnation|eviction)\}/g, (_, part: string) => parts[part] as string);
}
