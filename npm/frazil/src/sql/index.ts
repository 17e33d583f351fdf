/**
 * SQL for IDs that exist: functions that read the fields of an ID, give the IDs of a stretch of time, and convert to base 62 and typed IDs;
 * and partitions by time. As text, for migrations:
 *
 * ```js
 * import { sqlFor } from "frazil/sql";
 *
 * await client.query(sqlFor("default", "postgres"));
 * // SELECT * FROM orders WHERE id >= frazil_from('2026-11-01Z') AND id < frazil_until('2026-12-01Z')
 * ```
 */
import { Layout, type LayoutInput } from "frazil";
import { msGiven } from "../base/dates.js";
import { configError, type FrazilError, isWhole } from "../base/errors.js";
import { checkKeys, hintOf } from "../base/option-keys.js";
import type { Definition, Dialect } from "./dialect.js";
import { DIALECTS } from "./dialects.js";
import { functionsOf, isNodeAbove, isTimeOrdered } from "./functions.js";
import { MAX_PARTITIONS, mysqlPartitions, periodsOf, postgresPartitions, STEPS, type Step } from "./partitions.js";

export type { LayoutInput, NodeInput } from "frazil";
export { ConfigError, type ErrorCode, FrazilError } from "../base/errors.js";
export { type NextSqlOptions, nextSql } from "./next.js";

/** The dialects of SQL. */
export type SqlDialect = keyof typeof DIALECTS;

/** Partitions of a table by the time of the IDs in its column `id`. */
export interface SqlPartitions {
  readonly table: string;
  /** The length of a partition, in UTC. Weeks begin on Monday. */
  readonly by: "day" | "week" | "month";
  /** The first partition is that of `from`, and the last one ends at or after `until`. */
  readonly from: Date | number;
  readonly until: Date | number;
}

/** The options of `sqlFor`. */
export interface SqlOptions {
  /** The schema of the functions, which must exist; a database in MariaDB and MySQL. Default: the current one. */
  readonly schema?: string | undefined;
  /** Whether to remove the functions instead. Partitions stay. */
  readonly down?: boolean | undefined;
  /** Partitions of a table. Only for Postgres, MariaDB and MySQL. */
  readonly partition?: SqlPartitions | undefined;
}

const optionError = (field: string, value: unknown, rule: string): FrazilError =>
  configError("INVALID_OPTION", field, value, rule);

const LATEST_MS = 8.64e15;

/** The layout, if a column of the dialect can hold its IDs in order. */
function checkedLayout(input: LayoutInput, name: SqlDialect, { isSigned }: Dialect): Layout {
  const layout = Layout.from(input);
  if (isSigned && layout.plan().signedUntil === undefined)
    throw configError(
      "INVALID_LAYOUT",
      "layout",
      layout,
      `must have at most 63 bits, or begin with the time, for ${name}: its columns have a sign\nA node id would decide it.`,
    );
  return layout;
}

function dialectOf(name: unknown): [SqlDialect, Dialect] {
  if (typeof name === "string" && Object.hasOwn(DIALECTS, name))
    return [name as SqlDialect, DIALECTS[name as SqlDialect]];
  const list = Object.keys(DIALECTS).join(", ");
  const hint = typeof name === "string" ? hintOf(name.toLowerCase(), list) : `Use one of ${list}.`;
  throw configError("INVALID_ARGUMENT", "dialect", name, `must be the name of a dialect\n${hint}`);
}

function prefixOf(schema: unknown, name: SqlDialect, { schema: names }: Dialect): string {
  if (schema === undefined) return "";
  if (names === undefined) throw optionError("schema", schema, `must be absent for ${name}: its functions are in none`);
  const { quote, pattern, rule } = names;
  if (typeof schema !== "string" || !pattern.test(schema)) throw optionError("schema", schema, rule);
  return `${quote}${schema}${quote}.`;
}

const TABLE = /^[a-z_][\w$]{0,62}$/i;

interface CheckedPartitions {
  readonly table: string;
  readonly step: Step;
  readonly starts: readonly number[];
}

function partitionsOf(given: SqlPartitions, name: SqlDialect, layout: Layout): CheckedPartitions {
  if (name !== "postgres" && name !== "mariadb" && name !== "mysql")
    throw optionError("partition", given, `must be absent for ${name}: it is for postgres, mariadb and mysql`);
  const own = checkKeys("INVALID_OPTION", "partition", given, "table, by, from, until");
  const { table, by } = own;
  if (typeof table !== "string" || !TABLE.test(table))
    throw optionError("partition.table", table, "must be a letter or _ and then at most 62 letters, digits, _ or $");
  if (!STEPS.includes(by)) throw optionError("partition.by", by, "must be day, week or month");
  if (isNodeAbove(layout) || !isTimeOrdered(layout))
    throw configError(
      "INVALID_LAYOUT",
      "layout",
      layout,
      "must begin with the time: else a time has no single range of IDs",
    );
  const [from, until] = (["from", "until"] as const).map((key) => {
    const ms = msGiven(own[key]);
    if (isWhole(ms, 0, LATEST_MS)) return ms;
    throw optionError(`partition.${key}`, own[key], "must be a Date or Unix milliseconds");
  }) as [number, number];
  if (from >= until) throw optionError("partition.until", own.until, "must be after partition.from");
  const { lastDate, signedUntil = lastDate } = layout.plan();
  const lastMs = Number(name === "postgres" ? signedUntil : lastDate);
  if (from < layout.epochMs || until > lastMs)
    throw optionError(
      from < layout.epochMs ? "partition.from" : "partition.until",
      from < layout.epochMs ? from : until,
      `must be in the times of the layout, ${new Date(layout.epochMs).toISOString()} to ${new Date(lastMs).toISOString()}`,
    );
  const starts = periodsOf(by, from, until);
  if (starts.length > MAX_PARTITIONS)
    throw optionError("partition", given, `must be at most ${MAX_PARTITIONS} partitions`);
  return { table, step: by, starts };
}

const isoOf = (ms: number) => new Date(ms).toISOString();

/** Partitions in Postgres: the function that creates them, and its first call. */
function postgresTable(prefix: string, { table, step, starts }: CheckedPartitions): string {
  const times = [starts[0], starts.at(-1)].map((ms) => `'${isoOf(ms as number)}'`).join(", ");
  return `
-- The first partitions. The table is there: CREATE TABLE ${table} (id bigint PRIMARY KEY, …) PARTITION BY RANGE (id);
SELECT ${prefix}frazil_partitions('"${table}"', '${step}', ${times});
-- The next ones, once a day (pg_cron, or a job of your own):
-- SELECT ${prefix}frazil_partitions('"${table}"', '${step}', now(), now() + interval '3 ${step}s');`;
}

/** Partitions in MariaDB and MySQL. */
function mysqlTable(layout: Layout, { table, step, starts }: CheckedPartitions): string {
  const next = periodsOf(step, starts.at(-1) as number, (starts.at(-1) as number) + 1);
  return `
-- The first partition also takes all older rows. Every unique key of the table must contain id.
ALTER TABLE \`${table}\` PARTITION BY RANGE (id) (
${mysqlPartitions(layout, starts)}
);
-- The next ones:
-- ALTER TABLE \`${table}\` ADD PARTITION (
-- ${mysqlPartitions(layout, next)});`;
}

const oneLine = (text: string) => text.replace(/\s+/g, " ");

/** Generated columns and indexes, to copy. */
function examplesOf(name: SqlDialect, prefix: string, [time, second]: readonly Definition[]): string {
  if (name === "postgres")
    return `
-- ALTER TABLE orders ADD COLUMN created_at timestamptz GENERATED ALWAYS AS (${prefix}frazil_time(id)) STORED;
-- CREATE INDEX ON orders (${prefix}${second?.name}(id));
`;
  const type = name === "sqlite" ? "TEXT" : name === "mariadb" || name === "mysql" ? "DATETIME(3)" : undefined;
  if (type === undefined) return "";
  return `
-- A generated column${name === "sqlite" ? "" : ", which may not use a function of yours"}:
-- ALTER TABLE orders ADD COLUMN created_at ${type} AS (${oneLine((time as Definition).body)}) VIRTUAL;
`;
}

/** What there is to know about IDs of 64 bits. */
function notesOf(layout: Layout, { isSigned }: Dialect): string[] {
  const { signedUntil } = layout.plan();
  if (layout.fields.reduce((sum, { bits }) => sum + bits, 0) < 64) return [];
  return isSigned
    ? [
        `IDs of 64 bits are negative from ${isoOf(Number(signedUntil) + layout.tickMs)} on: no range of frazil_from and frazil_until has them.`,
      ]
    : ["IDs of 64 bits need a column of unsigned integers."];
}

/**
 * Functions of SQL for the IDs of a layout, as a script that can run again. `frazil_time(id)`, `frazil_node(id)`, `frazil_clock(id)` and
 * `frazil_sequence(id)` read the fields that the layout has; `id >= frazil_from(time) AND id < frazil_until(time)` are the IDs of a
 * stretch of time, as those of `Layout.range` (with a node id, if the layout has it above the time); `frazil_base62(id)`,
 * `frazil_parse_base62(text)` and `frazil_typed(prefix, id)` are texts of `frazil/text` and `frazil/typed`.
 *
 * Install it again after a change of the layout: the functions contain its numbers.
 *
 * @throws {ConfigError} `INVALID_LAYOUT` if a column of the dialect cannot have the IDs of the layout in order; `INVALID_ARGUMENT` for an
 * unknown dialect; `INVALID_OPTION` for an option that the dialect does not have, or a name that would need quotes.
 */
export function sqlFor(layout: LayoutInput, dialect: SqlDialect, options: SqlOptions = {}): string {
  const [name, traits] = dialectOf(dialect);
  const checked = checkedLayout(layout, name, traits);
  const {
    schema,
    down = false,
    partition,
  } = checkKeys("INVALID_OPTION", "options", options, "schema, down, partition");
  if (typeof down !== "boolean") throw optionError("down", down, "must be true or false");
  const prefix = prefixOf(schema, name, traits);
  const partitions = partition === undefined ? undefined : partitionsOf(partition, name, checked);
  const functions = functionsOf(checked, traits);
  const hasRanges = functions.some(({ name }) => name === "frazil_from");
  const hasPartitions = name === "postgres" && hasRanges && !isNodeAbove(checked);
  const head = [
    traits.runOn === undefined
      ? "Not tested on a real server. Compare some IDs with npx frazil decode."
      : `Tested on ${traits.runOn}.`,
    `Made by frazil for the layout ${JSON.stringify(checked)}.`,
  ];
  if (down) {
    const dropped = functions.map((each) => traits.drop(prefix, each)).reverse();
    if (hasPartitions)
      dropped.unshift(`DROP FUNCTION IF EXISTS ${prefix}frazil_partitions(regclass, text, timestamptz, timestamptz);`);
    return `${[...head.map((line) => `-- ${line}`), ...dropped.filter((line) => line !== "")].join("\n")}\n`;
  }
  const notes = [...(traits.notes ?? []), ...notesOf(checked, traits)];
  if (!hasRanges) notes.push("Without ranges of time: a clock or sequence field lies above the time.");
  const isUnsigned = !traits.isSigned && BigInt(checked.fields.reduce((sum, { bits }) => sum + bits, 0)) === 64n;
  const isBigNode = checked.plan().nodes > 2 ** 31;
  return [
    ...[...head, ...notes].map((line) => `-- ${line}`),
    ...functions.map((each) => traits.define(prefix, each, isUnsigned, isBigNode)),
    ...(hasPartitions ? [postgresPartitions(prefix)] : []),
    examplesOf(name, prefix, functions),
  ]
    .join("\n")
    .concat(
      partitions === undefined
        ? ""
        : name === "postgres"
          ? postgresTable(prefix, partitions)
          : mysqlTable(checked, partitions),
    )
    .trimEnd()
    .concat("\n");
}
