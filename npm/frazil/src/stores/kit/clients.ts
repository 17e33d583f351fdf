/**
 * Which store a client is for, by its methods: for the error when it is given to another store. The statements of one database
 * fail in another like an outage, so a client that is known to be wrong is refused before the first of them.
 */

/** The stores whose clients can be told apart. */
export type ClientOf = "d1" | "durable-object" | "mysql" | "postgres" | "redis" | "sqlite" | "zookeeper";

const STORES: { readonly [store in ClientOf]: string } = {
  d1: "This is a D1 database. D1Store of frazil/stores/d1 takes it.",
  "durable-object": "This is a namespace of Durable Objects. DurableObjectStore of frazil/workers takes it.",
  mysql: "This is a client of MariaDB or MySQL. MySqlStore of frazil/stores/mysql takes it.",
  postgres: "This is a client of Postgres. PostgresStore of frazil/stores/postgres takes it.",
  redis: "This is a client of Redis. RedisStore of frazil/stores/redis takes it.",
  sqlite: "This is a connection to SQLite. SqliteStore of frazil/stores/sqlite takes it.",
  zookeeper: "This is a client of ZooKeeper. ZooKeeperStore of frazil/stores/zookeeper takes it.",
};

/** Where else a client belongs, if its methods tell. A client that has only what a store calls belongs there. */
export function clientOf(client: unknown): ClientOf | undefined {
  const given = (client ?? {}) as Record<string, unknown>;
  const has = (name: string) => typeof given[name] === "function";
  // Pools and connections of mysql2 and mariadb have it. pg calls the same escapeIdentifier.
  if (has("escapeId")) return "mysql";
  if (has("eval") && (has("EVAL") || has("defineCommand"))) return "redis";
  // postgres and Neon; a Pool or Client of pg or Neon; PGlite.
  if (has("unsafe") || (has("query") && (has("connect") || has("listen")))) return "postgres";
  if (has("prepare") && has("batch")) return "d1";
  if (has("idFromName") && has("get")) return "durable-object";
  if (has("prepare") && has("exec")) return "sqlite";
  if (has("getData") && has("setData")) return "zookeeper";
  return undefined;
}

/** The hint for a client that belongs elsewhere, behind the rule. */
export function hintFor(store: ClientOf, client: unknown): string {
  const other = clientOf(client);
  return other === undefined || other === store ? "" : `\n${STORES[other]}`;
}

/** Whether it is a stub of a Durable Object or of another Worker, which has a method of every name. */
export const isStub = (given: unknown): boolean =>
  typeof (given as { frazilHasNoSuchMethod?: unknown } | undefined | null)?.frazilHasNoSuchMethod === "function";
