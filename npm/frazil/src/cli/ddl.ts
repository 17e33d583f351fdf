/** `npx frazil ddl`: the set-up of a store, to read and run. */
import { show } from "../base/errors.js";
import { d1Ddl } from "../stores/d1/index.js";
import { etcdDdl } from "../stores/etcd/index.js";
import type { DdlTags } from "../stores/kit/segment/requests.js";
import { type MySqlInitOptions, type MySqlStoreOptions, mysqlDdl } from "../stores/mysql/index.js";
import { type InitOptions, type PostgresStoreOptions, postgresDdl } from "../stores/postgres/index.js";
import { type RedisStoreOptions, redisDdl } from "../stores/redis/index.js";
import { sqliteDdl } from "../stores/sqlite/index.js";
import { zookeeperDdl } from "../stores/zookeeper/index.js";
import { layoutOf } from "./chosen-layout.js";
import type { Command } from "./command.js";
import { type Flags, given, wholeBigint, wholeNumber } from "./flags.js";
import { put } from "./output.js";
import { flagsOfStores, incarnationOf, notAStore, type OfStores, refuseOtherFlags } from "./stores.js";
import { shownArgument, UsageError } from "./usage-error.js";

/** Prints the set-up of a store. */
interface Printer {
  print(options: InitOptions, flags: Flags): string;
  printTags?(tags: DdlTags, flags: Flags): string;
}

/** The source of new node ids. The callee checks the names. */
function nodeIdsFromOf(text: string): NonNullable<MySqlInitOptions["nodeIdsFrom"]> {
  const [, kind, name] = /^(worker-node|cosid|none)(?::(.*))?$/s.exec(text) ?? [];
  if (kind === "worker-node") return { workerNode: name ?? "WORKER_NODE" };
  if (kind === "cosid" && name !== undefined) return { cosId: { namespace: name } };
  if (kind === "none" && name === undefined) return "none";
  throw new UsageError(
    `--node-ids-from must be worker-node, worker-node:TABLE, cosid:NAMESPACE or none, got ${show(text)}`,
  );
}

const printPostgres = (options: InitOptions | DdlTags, { role, schema, incarnation }: Flags) =>
  postgresDdl(options, given<PostgresStoreOptions>({ schema, incarnation: incarnationOf("sql", incarnation) }), role);
const printMySql = (options: MySqlInitOptions | DdlTags, { role, database, incarnation }: Flags) =>
  mysqlDdl(options, given<MySqlStoreOptions>({ database, incarnation: incarnationOf("sql", incarnation) }), role);
const printRedis = (options: InitOptions | DdlTags, { incarnation }: Flags) =>
  redisDdl(options, given<RedisStoreOptions>({ incarnation: incarnationOf("lua", incarnation) }));

const PRINTERS: OfStores<Printer> = {
  postgres: { flags: ["role", "schema", "incarnation"], print: printPostgres, printTags: printPostgres },
  mysql: {
    flags: ["role", "database", "incarnation", "node-ids-from"],
    print: (options, flags) => {
      const { "node-ids-from": from } = flags;
      return printMySql(from === undefined ? options : { ...options, nodeIdsFrom: nodeIdsFromOf(from) }, flags);
    },
    printTags: printMySql,
  },
  redis: { flags: ["incarnation"], print: printRedis, printTags: printRedis },
  etcd: { flags: ["prefix"], print: (options, { prefix }) => etcdDdl(options, given<{ prefix: string }>({ prefix })) },
  zookeeper: {
    flags: ["prefix", "acl"],
    print: (options, { prefix, acl }) => zookeeperDdl(options, given<{ prefix: string; acl: string }>({ prefix, acl })),
  },
  sqlite: { flags: [], print: sqliteDdl },
  d1: { flags: [], print: d1Ddl, printTags: d1Ddl },
};

/** The flags of the record of a scope. */
const SCOPE_FLAGS = ["scope", "layout", "epoch", "nodes", "window-max", "node-ids-from"] as const;

/** The error for an unknown store, or for several. */
function noStore([name, ...rest]: readonly string[], { tag: [tag] = [] }: Flags): UsageError {
  const { meant, hint: near } = notAStore(name ?? "", PRINTERS);
  const what =
    name === undefined
      ? `ddl needs a store, one of ${Object.keys(PRINTERS).join(", ")}`
      : rest.length > 0
        ? "ddl prints what one store needs"
        : `${shownArgument(name)} is not a store`;
  const hint = name === undefined || rest.length > 0 ? "" : `${near} `;
  // Only some stores print the record of a counter.
  const store = meant ?? "postgres";
  const hasTag = PRINTERS[store]?.printTags !== undefined && /^[\w.-]+$/.test(tag ?? "");
  return new UsageError(`${what}\n${hint}npx frazil ddl ${store} ${hasTag ? `--tag ${tag}` : "--scope default"}`);
}

function run(flags: Flags, stores: readonly string[]): number {
  const [name = "", ...rest] = stores;
  const printer = Object.hasOwn(PRINTERS, name) && rest.length === 0 ? PRINTERS[name] : undefined;
  if (printer === undefined) throw noStore(stores, flags);
  refuseOtherFlags("ddl", name, PRINTERS, flags);
  // An unset shell variable. The stores check the others.
  const empty = (["role", "acl"] as const).find((flag) => flags[flag] === "");
  if (empty !== undefined) throw new UsageError(`--${empty} is ""`);
  if (flags.tag !== undefined) {
    if (printer.printTags === undefined) {
      // Its record contains the identity of the file, which is unknown here.
      const instead = name === "sqlite" ? "\nA program makes the record, by await store.initSegment({ tag })." : "";
      throw new UsageError(`--tag is not for ddl ${name}${instead}`);
    }
    const other = SCOPE_FLAGS.find((flag) => flags[flag] !== undefined);
    if (other !== undefined)
      throw new UsageError(
        `--tag is for the record of a counter, and --${other} for that of a scope\nPrint one after the other.`,
      );
    const first = flags.first === undefined ? {} : { first: wholeBigint("first", flags.first) };
    put(printer.printTags({ tags: flags.tag, ...first }, flags));
    return 0;
  }
  if (flags.first !== undefined) throw new UsageError("--first is the first number of a --tag, which is not given");
  const { scope, nodes, "window-max": windowMaxMs } = flags;
  const range = nodes === undefined ? undefined : /^(\d+)-(\d+)$/.exec(nodes);
  if (range === null) throw new UsageError(`--nodes must be two node ids, such as 0-99, got ${show(nodes)}`);
  const options = {
    layout: layoutOf(flags),
    ...(scope !== undefined && { scope }),
    ...(range && { nodes: { from: Number(range[1]), to: Number(range[2]) } }),
    ...(windowMaxMs !== undefined && { windowMaxMs: wholeNumber("window-max", windowMaxMs) }),
  };
  put(printer.print(options, flags));
  return 0;
}

export const ddl: Command = {
  name: "ddl",
  summary: "what a store of leases or segments needs, to read and run",
  usage: "STORE",
  examples: [
    ["ddl postgres --scope orders", "for leases; also mysql, redis, etcd, zookeeper, sqlite"],
    ["ddl d1 --layout edge", "for leases of Workers: edge is the layout of leased()"],
    ["ddl postgres --tag orders", "for segments; also mysql, redis, d1"],
  ],
  notes:
    "On Cloudflare Workers each isolate leases its node id from a Durable Object, with nothing to print or to\nset up: leased() of frazil/workers.",
  flags: ["scope", "nodes", "window-max", "layout", "epoch", "tag", "first", ...flagsOfStores(PRINTERS)],
  takesArguments: true,
  run,
};

/** The stores that it knows. */
export const STORES: readonly string[] = Object.keys(PRINTERS);
