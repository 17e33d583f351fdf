/** `npx frazil sql`: functions and partitions for a migration. */
import { hintOf } from "../base/option-keys.js";
import { nextSql, type SqlDialect, type SqlPartitions, sqlFor } from "../sql/index.js";
import { layoutOf } from "./chosen-layout.js";
import { nodeOf } from "./chosen-node.js";
import type { Command } from "./command.js";
import { type Flags, given } from "./flags.js";
import { put } from "./output.js";
import { anyMs } from "./times.js";
import { shownArgument, UsageError } from "./usage-error.js";

/** The dialects, of which the compiler misses none. */
const DIALECTS: readonly string[] = Object.keys({
  postgres: true,
  mariadb: true,
  mysql: true,
  sqlite: true,
  clickhouse: true,
  duckdb: true,
  bigquery: true,
  trino: true,
  snowflake: true,
} satisfies Record<SqlDialect, true>);

const EXAMPLE = "npx frazil sql postgres --partition month --table orders";

/** Three times the longest period, so that there are partitions until the next ones are made. */
const AHEAD_MS = 3 * 31 * 86_400_000;

/** The partitions of the flags. The callee checks their names. */
function partitionOf({ partition, table, from, to }: Flags): SqlPartitions | undefined {
  if (partition === undefined) {
    const stray = Object.entries({ table, from, to }).find(([, value]) => value !== undefined);
    if (stray === undefined) return undefined;
    throw new UsageError(`--${stray[0]} is for --partition, which is not given\n${EXAMPLE}`);
  }
  if (table === undefined) throw new UsageError(`--partition needs --table too\n${EXAMPLE}`);
  const start = anyMs("from", from ?? "now");
  const until = to === undefined ? start + AHEAD_MS : anyMs("to", to);
  return { table, by: partition as SqlPartitions["by"], from: start, until };
}

function run(flags: Flags, dialects: readonly string[]): number {
  const [name = "", ...rest] = dialects;
  if (rest.length > 0 || !DIALECTS.includes(name)) {
    const list = DIALECTS.join(", ");
    if (name === "") throw new UsageError(`sql needs a dialect, one of ${list}\n${EXAMPLE}`);
    if (rest.length > 0) throw new UsageError(`sql prints what one dialect needs\n${EXAMPLE}`);
    throw new UsageError(`${shownArgument(name)} is not a dialect\n${hintOf(name.toLowerCase(), list)}`);
  }
  const { schema, down, node, role, partition } = flags;
  if (node !== undefined) {
    if (name !== "postgres") throw new UsageError(`--node is for sql postgres\nIt prints frazil.next().`);
    if (partition !== undefined) throw new UsageError("--node and --partition exclude each other");
    const id = nodeOf(node);
    put(nextSql(layoutOf(flags), given({ node: id === "none" ? undefined : id, schema, down, grant: role })));
    return 0;
  }
  if (role !== undefined) throw new UsageError("--role is for --node, which is not given");
  put(sqlFor(layoutOf(flags), name as SqlDialect, given({ schema, down, partition: partitionOf(flags) })));
  return 0;
}

export const sql: Command = {
  name: "sql",
  summary: "functions that read IDs in SQL, partitions by time, and frazil.next()",
  usage: "DIALECT",
  examples: [
    ["sql postgres", "frazil_time(id), frazil_from(time) …"],
    ["sql postgres --partition month --table orders", "also day, week; mariadb, mysql"],
    ["sql clickhouse --layout twitter", ""],
    ["sql postgres --node 1022 --role app", "frazil.next(), the default of a column"],
  ],
  notes: `The dialects: ${DIALECTS.join(", ")}.\nThe script can run again. Its first line says whether it was tested on a real server.`,
  flags: ["layout", "epoch", "schema", "down", "partition", "table", "from", "to", "node", "role"],
  meanings: {
    node: ["N", "for postgres: the node id of the database, which nothing else uses. Prints frazil.next() instead"],
    role: ["NAME", "with --node: who may call it besides its owner"],
    schema: ["NAME", "the schema of the functions, which must exist (default: the current one)"],
    from: ["TIME", "with --partition: a time in the first partition (default: now)"],
    to: ["TIME", "with --partition: the end of the last one at the earliest (default: 93 days after --from)"],
  },
  takesArguments: true,
  run,
};
