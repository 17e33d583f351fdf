#!/usr/bin/env node
/** The command line tool, `npx frazil`. It reads arguments and prints; the package does the rest. */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { FrazilError, Layout, type LayoutName, type LayoutSpec, Snowflake } from "frazil";
import { d1Ddl } from "./stores/d1.js";
import { etcdDdl } from "./stores/etcd.js";
import { type MySqlInitOptions, type MySqlStoreOptions, mysqlDdl } from "./stores/mysql.js";
import { type InitOptions, type PostgresStoreOptions, postgresDdl } from "./stores/postgres.js";
import { type RedisStoreOptions, redisDdl } from "./stores/redis.js";
import type { DdlTags } from "./stores/segment-requests.js";
import { sqliteDdl } from "./stores/sqlite.js";
import { zookeeperDdl } from "./stores/zookeeper.js";

const HELP = `frazil: Snowflake IDs, 64-bit, time-ordered, unique across machines as long as their
node ids differ

  npx frazil next                                mint an ID from the state file of this machine and user
  npx frazil next --node 7 --count 3 --json      three, as JSON, with a node id that no other process uses
  npx frazil decode 175928847299117063 --layout discord
                                                 the fields of an ID: time, node, sequence, bits
  npx frazil plan --layout twitter               the capacity of a layout, and its last time
  npx frazil ddl postgres --scope orders         what a lease store needs, to read and run; also mysql, redis, etcd,
                                                 zookeeper, sqlite, d1
  npx frazil ddl postgres --tag orders           what segments need; also mysql, redis, d1

On Cloudflare Workers each isolate leases its node id from a Durable Object, with nothing to print or to set up:
leased() of frazil/workers.

Options
  --node N         the number of this machine. No state file is used then, so two processes with one node id can
                   repeat each other's IDs. "none" for a layout without a node field
  --dir PATH       the directory of the state file (default: frazil in $STATE_DIRECTORY,
                   $XDG_STATE_HOME or ~/.local/state)
  --accept-unproven-platform
                   for next: use the state file on a platform where that is not proven, and IDs might repeat
  --layout NAME    ${Layout.names.slice(0, 8).join(", ")},
                   ${Layout.names.slice(8).join(", ")} (default: default);
                   or a layout of your own as JSON: '{"epochMs":…,"tickMs":…,"fields":[{"kind":"time","bits":41},…]}'
  --epoch MS       another epoch for the layout, in Unix milliseconds
  --count N        how many to mint (default: 1)
  --scope NAME     for ddl: the name of the ID space (default: default)
  --nodes 0-99     for ddl: the node ids to grant (default: all of the layout)
  --window-max MS  for ddl: the longest window of a lease (default: 60000; d1: 600000)
  --tag NAME       for ddl postgres, mysql, redis and d1: the name of a counter, in place of a scope. Repeat it for more
  --first N        for ddl with --tag: the first number (default: 1), such as one above those of a sequence
  --role NAME      for ddl postgres and mysql: who gets the rights
  --schema, --database NAME, --prefix PATH
                   for ddl postgres, mysql, and etcd or zookeeper: where the tables or keys are
  --node-ids-from worker-node[:TABLE] | cosid:NAMESPACE | none
                   for ddl mysql: the table that a fleet of UidGenerator (WORKER_NODE) or CosId (cosid_machine) takes
                   its node ids from, to mint beside it; none: beside such a table, but not for its IDs
  --acl TEXT       for ddl zookeeper: the ACL of the znodes, as zkCli takes it
  --incarnation TEXT
                   for ddl postgres, mysql (SQL) and redis (Lua): how a server is told from one that lost writes
  --json           print one JSON value a line, for programs; IDs are text
  --help, --version

An ID is digits only. Pass it as text: a JavaScript number loses the last digits of an ID this long.
`;

/** A wrong use of the command. The message says what to do instead. */
class UsageError extends Error {}

interface Flags {
  node?: string | undefined;
  dir?: string | undefined;
  "accept-unproven-platform"?: boolean | undefined;
  layout?: string | undefined;
  epoch?: string | undefined;
  count?: string | undefined;
  json?: boolean | undefined;
  scope?: string | undefined;
  tag?: string[] | undefined;
  first?: string | undefined;
  nodes?: string | undefined;
  "window-max"?: string | undefined;
  role?: string | undefined;
  schema?: string | undefined;
  database?: string | undefined;
  prefix?: string | undefined;
  acl?: string | undefined;
  "node-ids-from"?: string | undefined;
  incarnation?: string | undefined;
}

/** A whole number given as text. The callee checks its range. */
function wholeNumber(flag: string, text: string): number {
  return Number(wholeBigint(flag, text));
}

/** The same above 2^53. */
function wholeBigint(flag: string, text: string): bigint {
  if (!/^\d+$/.test(text)) throw new UsageError(`--${flag} is ${JSON.stringify(text)}: must be a whole number`);
  return BigInt(text);
}

function layoutOf({ layout = "default", epoch }: Flags): Layout {
  const named = (layout.startsWith("{") ? new Layout(specOf(layout)) : Layout.named(layout as LayoutName)) as Layout;
  return epoch === undefined ? named : named.with({ epochMs: wholeNumber("epoch", epoch) });
}

/** A layout as JSON. Its callee checks it. */
function specOf(text: string): LayoutSpec {
  try {
    return JSON.parse(text) as LayoutSpec;
  } catch (error) {
    throw new UsageError(
      `--layout is ${JSON.stringify(text)}: must be JSON if it begins with {. ${(error as Error).message}`,
    );
  }
}

const line = (text: string) => process.stdout.write(`${text}\n`);
/** Prints two columns. */
function table(rows: readonly (readonly [string, unknown])[]): void {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  for (const [name, value] of rows) line(`${name.padEnd(width)}${value}`);
}

/** The bits of an ID, field by field. */
function bitsOf(id: bigint, layout: Layout): string {
  const width = layout.fields.reduce((bits, field) => bits + field.bits, 0);
  let rest = id.toString(2).padStart(width, "0");
  const fields = layout.fields.map(({ bits }) => {
    const field = rest.slice(0, bits);
    rest = rest.slice(bits);
    return field;
  });
  return fields.join(" ");
}

function next(flags: Flags): void {
  const { node, dir, "accept-unproven-platform": acceptUnprovenPlatform, count = "1" } = flags;
  const fileOption = dir !== undefined ? "dir" : acceptUnprovenPlatform ? "accept-unproven-platform" : undefined;
  if (node !== undefined && fileOption !== undefined)
    throw new UsageError(`--node and --${fileOption} exclude each other: a static node id has no state file`);
  const layout = layoutOf(flags);
  const wanted = wholeNumber("count", count);
  const id = node === undefined || node === "none" ? node : wholeNumber("node", node);
  const waiting = { layout, maxWaitMs: 5000 };
  using ids =
    id === undefined
      ? Snowflake.local({ ...waiting, ...given({ dir, acceptUnprovenPlatform }) })
      : new Snowflake({ ...waiting, node: id as number });
  for (const text of ids.nextManyStrings(wanted)) line(flags.json ? JSON.stringify(text) : text);
}

function decode(flags: Flags, ids: readonly string[]): void {
  if (ids.length === 0)
    throw new UsageError("decode needs an ID: npx frazil decode 175928847299117063 --layout discord");
  const layout = layoutOf(flags);
  for (const [at, text] of ids.entries()) {
    if (at > 0 && !flags.json) line("");
    const decoded = layout.decode(text);
    if (flags.json) {
      line(JSON.stringify(decoded));
      continue;
    }
    const parts = Object.entries(decoded.parts ?? {});
    const named = parts.length > 1 || parts[0]?.[0] !== "node" ? parts : [];
    table([
      ["id", text],
      ["time", `${decoded.date.toISOString()} (${decoded.timestampMs})`],
      ...(decoded.node === undefined ? [] : [["node", decoded.node] as const]),
      ...named.map(([name, value]) => [`  ${name}`, value] as const),
      ...(decoded.clock === undefined ? [] : [["clock", decoded.clock] as const]),
      ["sequence", decoded.sequence],
      ["bits", bitsOf(decoded.id, layout)],
      ["", layout.fields.map(({ kind, name, bits }) => `${name ?? kind} ${bits}`).join(" | ")],
    ]);
  }
}

function plan(flags: Flags): void {
  const layout = layoutOf(flags);
  const { lastDate, signedUntil, ordered, nodes, idsPerTick, idsPerSecond } = layout.plan();
  if (flags.json) {
    line(JSON.stringify({ ...layout.toJSON(), lastDate, signedUntil, ordered, nodes, idsPerTick, idsPerSecond }));
    return;
  }
  table([
    ["layout", layout.fields.map(({ kind, name, bits }) => `${name ?? kind} ${bits}`).join(" | ")],
    ["epoch", `${new Date(layout.epochMs).toISOString()} (${layout.epochMs})`],
    ["last time", lastDate.toISOString()],
    [
      "signed",
      signedUntil === undefined ? "depends on the topmost field" : `positive until ${signedUntil.toISOString()}`,
    ],
    ["ordered", ordered ? "yes: the IDs of one generator strictly increase" : "no"],
    ["node ids", nodes],
    ["cap", `${idsPerTick} IDs a tick of ${layout.tickMs} ms for each node, ${idsPerSecond} a second`],
  ]);
}

/** What a store's set-up is printed with, and the flags that only some stores have. */
interface Printer {
  readonly flags: readonly (keyof Flags)[];
  print(options: InitOptions, flags: Flags): string;
  printTags?(tags: DdlTags, flags: Flags): string;
}

/** The options that were given, by the names that stores have for them. */
const given = <T extends object>(options: { [K in keyof T]: T[K] | undefined }): T =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;

/** Where new node ids come from. The callee checks the names. */
function nodeIdsFromOf(text: string): NonNullable<MySqlInitOptions["nodeIdsFrom"]> {
  const [, kind, name] = /^(worker-node|cosid|none)(?::(.*))?$/s.exec(text) ?? [];
  if (kind === "worker-node") return { workerNode: name ?? "WORKER_NODE" };
  if (kind === "cosid" && name !== undefined) return { cosId: { namespace: name } };
  if (kind === "none" && name === undefined) return "none";
  throw new UsageError(
    `--node-ids-from is ${JSON.stringify(text)}: must be worker-node, worker-node:TABLE, cosid:NAMESPACE or none`,
  );
}

const printPostgres = (options: InitOptions | DdlTags, { role, schema, incarnation: sql }: Flags) =>
  postgresDdl(options, given<PostgresStoreOptions>({ schema, incarnation: sql === undefined ? sql : { sql } }), role);
const printMySql = (options: MySqlInitOptions | DdlTags, { role, database, incarnation: sql }: Flags) =>
  mysqlDdl(options, given<MySqlStoreOptions>({ database, incarnation: sql === undefined ? sql : { sql } }), role);
const printRedis = (options: InitOptions | DdlTags, { incarnation: lua }: Flags) =>
  redisDdl(options, given<RedisStoreOptions>({ incarnation: lua === undefined ? lua : { lua } }));

const PRINTERS: { readonly [store: string]: Printer } = {
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

/** Names under which people know a store. */
const ALIASES: readonly (readonly [RegExp, keyof typeof PRINTERS])[] = [
  [/^maria|^mysql/i, "mysql"],
  [/^valkey|^redis|^dragonfly|^keydb/i, "redis"],
  [/^sqlite|^better-sqlite/i, "sqlite"],
  [/^zk$|^zoo/i, "zookeeper"],
  [/^etcd/i, "etcd"],
];

/** The flags of the record of a scope. */
const SCOPE_FLAGS = ["scope", "layout", "epoch", "nodes", "window-max", "node-ids-from"] as const;

/** The flags that some stores have, and others do not. */
const STORE_FLAGS = [...new Set(Object.values(PRINTERS).flatMap(({ flags }) => flags))];

function ddl(flags: Flags, stores: readonly string[]): void {
  const [name = "", ...rest] = stores;
  const printer = Object.hasOwn(PRINTERS, name) && rest.length === 0 ? PRINTERS[name] : undefined;
  if (printer === undefined) {
    const [tag] = flags.tag ?? [];
    const store = ALIASES.find(([alias]) => alias.test(name))?.[1] ?? "postgres";
    throw new UsageError(
      `ddl needs a store, one of ${Object.keys(PRINTERS).join(", ")}: npx frazil ddl ${store} ${tag === undefined ? "--scope default" : `--tag ${tag}`}`,
    );
  }
  const stray = STORE_FLAGS.find((flag) => flags[flag] !== undefined && !printer.flags.includes(flag));
  if (stray !== undefined) throw new UsageError(`--${stray} is not for ddl ${name}`);
  if (flags.tag !== undefined) {
    if (printer.printTags === undefined) {
      // Its record has the identity of the file, which is not known here.
      const instead = name === "sqlite" ? ": a program makes the record, by await store.initSegment({ tag })" : "";
      throw new UsageError(`--tag is not for ddl ${name}${instead}`);
    }
    const other = SCOPE_FLAGS.find((flag) => flags[flag] !== undefined);
    if (other !== undefined)
      throw new UsageError(
        `--tag is for the record of a counter, and --${other} for that of a scope: print one after the other`,
      );
    const first = flags.first === undefined ? {} : { first: wholeBigint("first", flags.first) };
    process.stdout.write(printer.printTags({ tags: flags.tag, ...first }, flags));
    return;
  }
  if (flags.first !== undefined) throw new UsageError("--first is the first number of a --tag, which is not given");
  const { scope, nodes, "window-max": windowMaxMs } = flags;
  const range = nodes === undefined ? undefined : /^(\d+)-(\d+)$/.exec(nodes);
  if (range === null) throw new UsageError(`--nodes is ${JSON.stringify(nodes)}: must be two node ids, such as 0-99`);
  const options = {
    layout: layoutOf(flags),
    ...(scope !== undefined && { scope }),
    ...(range && { nodes: { from: Number(range[1]), to: Number(range[2]) } }),
    ...(windowMaxMs !== undefined && { windowMaxMs: wholeNumber("window-max", windowMaxMs) }),
  };
  process.stdout.write(printer.print(options, flags));
}

/** The flags that each command reads. Others would be ignored, and `--nodes 7` is easily written for `--node 7`. */
const COMMANDS: { readonly [command: string]: { flags: readonly (keyof Flags)[] } } = {
  next: { flags: ["node", "dir", "accept-unproven-platform", "layout", "epoch", "count", "json"] },
  decode: { flags: ["layout", "epoch", "json"] },
  plan: { flags: ["layout", "epoch", "json"] },
  ddl: { flags: ["layout", "epoch", "scope", "nodes", "window-max", "tag", "first", ...STORE_FLAGS] },
};

/** Refuses a flag that the command does not read, and names the commands that do. */
function checkFlags(command: string, given: Flags): void {
  const known = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  const stray = (Object.keys(given) as (keyof Flags)[]).find((flag) => known && !known.flags.includes(flag));
  if (stray === undefined) return;
  const readers = Object.keys(COMMANDS).filter((name) => COMMANDS[name]?.flags.includes(stray));
  throw new UsageError(`--${stray} is for ${readers.join(", ")}, not for ${command}`);
}

function main(args: string[]): void {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      node: { type: "string" },
      dir: { type: "string" },
      "accept-unproven-platform": { type: "boolean" },
      layout: { type: "string" },
      epoch: { type: "string" },
      count: { type: "string" },
      json: { type: "boolean" },
      scope: { type: "string" },
      tag: { type: "string", multiple: true },
      first: { type: "string" },
      nodes: { type: "string" },
      "window-max": { type: "string" },
      role: { type: "string" },
      schema: { type: "string" },
      database: { type: "string" },
      prefix: { type: "string" },
      acl: { type: "string" },
      "node-ids-from": { type: "string" },
      incarnation: { type: "string" },
      help: { type: "boolean", short: "h" },
      version: { type: "boolean" },
    },
  });
  const [command, ...rest] = positionals;
  const { help, version, ...flags } = values;
  if (!help && !version && command !== undefined) checkFlags(command, flags);
  if (version) {
    line(
      (JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }).version,
    );
  } else if (help || command === undefined) process.stdout.write(HELP);
  else if (command === "next" && rest.length === 0) next(flags);
  else if (command === "decode") decode(flags, rest);
  else if (command === "plan" && rest.length === 0) plan(flags);
  else if (command === "ddl") ddl(flags, rest);
  else throw new UsageError(`unknown: ${positionals.join(" ")}`);
}

try {
  main(process.argv.slice(2));
} catch (error) {
  const known =
    FrazilError.is(error) ||
    error instanceof UsageError ||
    (error as { code?: string }).code?.startsWith("ERR_PARSE_ARGS");
  if (!known) throw error;
  process.stderr.write(`frazil: ${(error as Error).message}\nnpx frazil --help shows what can be done.\n`);
  process.exitCode = error instanceof FrazilError ? 1 : 2;
}
