/**
 * `npx frazil fence`: raises the fence of a scope after a restore. Prints the statement to read and run; for etcd, which needs no client,
 * runs it.
 */
import { d1Fence } from "../stores/d1/index.js";
import { EtcdStore, type EtcdStoreOptions } from "../stores/etcd/index.js";
import { type MySqlStoreOptions, mysqlFence } from "../stores/mysql/index.js";
import { type PostgresStoreOptions, postgresFence } from "../stores/postgres/index.js";
import { type RedisStoreOptions, redisFence } from "../stores/redis/index.js";
import { sqliteFence } from "../stores/sqlite/index.js";
import type { Command } from "./command.js";
import { type Flags, given } from "./flags.js";
import { put } from "./output.js";
import { flagsOfStores, incarnationOf, notAStore, type OfStores, refuseOtherFlags } from "./stores.js";
import { shownArgument, UsageError } from "./usage-error.js";

/** Raises the fence of a store. */
interface Fencer {
  /** Resolves to the output. */
  fence(scope: string, flags: Flags): string | Promise<string>;
}

/** Raises the fence, with etcdctl's servers and user from the environment. */
async function fenceEtcd(scope: string, { prefix }: Flags): Promise<string> {
  const { ETCDCTL_ENDPOINTS: endpoints = "http://127.0.0.1:2379", ETCDCTL_USER: user } = process.env;
  const at = user?.indexOf(":") ?? -1;
  if (user !== undefined && at < 0)
    throw new UsageError("$ETCDCTL_USER must be a name and a password with : between them, as etcdctl takes it");
  const urls = endpoints.split(",").map((url) => (url.includes("://") ? url : `http://${url}`));
  const account = user === undefined ? {} : { username: user.slice(0, at), password: user.slice(at + 1) };
  const store = new EtcdStore({
    endpoints: urls,
    ...account,
    ...given<{ prefix: string }>({ prefix }),
  } as EtcdStoreOptions);
  const fenceMs = await store.fence({ scope });
  return `The scope "${scope}" is fenced: nothing is granted before ${new Date(fenceMs).toISOString()}.\n`;
}

const FENCERS: OfStores<Fencer> = {
  postgres: {
    flags: ["schema", "incarnation"],
    fence: (scope, { schema, incarnation }) =>
      postgresFence(scope, given<PostgresStoreOptions>({ schema, incarnation: incarnationOf("sql", incarnation) })),
  },
  mysql: {
    flags: ["database", "incarnation"],
    fence: (scope, { database, incarnation }) =>
      mysqlFence(scope, given<MySqlStoreOptions>({ database, incarnation: incarnationOf("sql", incarnation) })),
  },
  redis: {
    flags: ["incarnation"],
    fence: (scope, { incarnation }) =>
      redisFence(scope, given<RedisStoreOptions>({ incarnation: incarnationOf("lua", incarnation) })),
  },
  etcd: { flags: ["prefix"], fence: fenceEtcd },
  sqlite: { flags: [], fence: sqliteFence },
  d1: { flags: [], fence: d1Fence },
};

/** Stores that only a program can reach. */
const BY_PROGRAM = ["zookeeper", "durable-object", "document"];

async function run(flags: Flags, stores: readonly string[]): Promise<number> {
  const [name = "", ...rest] = stores;
  const { scope = "default" } = flags;
  if (BY_PROGRAM.includes(name))
    throw new UsageError(
      `the fence of ${name} is raised by a program, which has its client\nawait store.fence({ scope: ${JSON.stringify(scope)} })`,
    );
  const fencer = Object.hasOwn(FENCERS, name) && rest.length === 0 ? FENCERS[name] : undefined;
  if (fencer === undefined) {
    const { meant, hint: near } = notAStore(name, FENCERS);
    const isCount = name === "" || rest.length > 0;
    const what = isCount
      ? `fence needs one store, of ${Object.keys(FENCERS).join(", ")}`
      : `${shownArgument(name)} is not a store`;
    const hint = isCount ? "" : `${near} `;
    throw new UsageError(`${what}\n${hint}npx frazil fence ${meant ?? "postgres"} --scope default`);
  }
  refuseOtherFlags("fence", name, FENCERS, flags);
  put(await fencer.fence(scope, flags));
  return 0;
}

export const fence: Command = {
  name: "fence",
  summary: "after a restore: what keeps a scope from granting node ids that are in use",
  usage: "STORE",
  examples: [
    ["fence postgres --scope orders", 'prints SQL: | psql -v ON_ERROR_STOP=1 "$DATABASE_URL"'],
    ["fence mysql --scope orders", "prints SQL; also sqlite, d1"],
    ["fence redis --scope orders", "prints a script: | sh"],
  ],
  notes:
    "For etcd it connects and raises the fence, by $ETCDCTL_ENDPOINTS and $ETCDCTL_USER. For every other store, what it prints\nbegins with how to run it. Run it once for each scope, before the programs start. A fence too many harms nothing.",
  flags: ["scope", ...flagsOfStores(FENCERS)],
  takesArguments: true,
  run,
};
