/**
 * Node ids from the table of another generator, for a fleet that is replaced one process at a time: the page "Migrating a fleet".
 *
 * Rows, grants and fences are in the tables of Frazil. Only the numbers come from the old table: a new node id is a row that is
 * inserted there as the old generator inserts one, so that none of its processes gets the number as well.
 *
 * - **A number with a row of the old generator is never granted**, however old the row is: its process may go on minting.
 * - **A number with a row of ours is never theirs**: UidGenerator reuses none, and CosId takes no row whose stamp is in the future.
 * - **A row that is not ours any more ends the lease** of its number at the next renewal, and it is never granted again.
 * - **Rows of two records are never taken for each other**: each record has drawn a marker, which is in its rows.
 *
 * Nothing here is changed or deleted in the old table.
 */

import { drawRandom } from "../../asking/kernel-random.js";
import { type ConfigError, configError, saidOf } from "../../base/errors.js";
import { checkKeys } from "../../base/option-keys.js";
import { fromOutside } from "../../base/outside-text.js";
import { PackageRule } from "../../base/package-rules.js";
import { optionError } from "../kit/argument-errors.js";
import { storeRefused } from "../kit/errors.js";

/** The table that new node ids come from. */
export interface NodeIdsFrom {
  /** The table of UidGenerator, such as `"WORKER_NODE"` or `"uid.WORKER_NODE"`. */
  readonly workerNode?: string;
  /** The namespace of CosId in its table `cosid_machine`. `table`: if it is called otherwise, or in another database. */
  readonly cosId?: { readonly namespace: string; readonly table?: string };
  /**
   * `init` refuses a table without a row of the fleet: it is that of another database, a copy, or the namespace is another one.
   * `true`: no process of the fleet has ever started.
   */
  readonly allowEmpty?: boolean;
}

/** The statements for one old table. `:marker` is what our rows have in it, and `:namespace` that of CosId. @internal */
export interface OldTable {
  /** How the record of the scope names it, as JSON. */
  readonly text: string;
  /** The table, for errors. */
  readonly name: string;
  readonly values: Readonly<Record<string, string>>;
  /** The largest node id that its rows can have. */
  readonly maxNode: number;
  /** A condition: whether the number `{node}` is ours. */
  readonly isOurs: string;
  /** An expression: the largest number in use, or null. */
  readonly largest: string;
  /** Our numbers from `:next` to `:last`, in their order. */
  readonly readOurs: string;
  /** Inserts a row of ours with the next number. For CosId, `:number` is that number. */
  readonly insert: string;
  /** Reads no row, and fails without one of the columns. */
  readonly check: string;
  /** What is wrong if that fails. */
  readonly mismatch: string;
  /** An expression: the engine. */
  readonly engine: string;
  /** Reads the engine, the largest number, and the next one where the table counts. */
  readonly state: string;
  /** Some names that have rows, for the error about one that has none. */
  readonly names: string;
  /** The error for a table without a row of the fleet. `found`: those names. `next`: the next number, where the table counts. */
  readonly isEmpty: (found: readonly string[], next: number) => ConfigError;
  /** What the role of a program needs. */
  readonly permission: string;
}

/** The number of our numbers that are taken over at a time. @internal */
const TAKEN_OVER = 64;

/** Whether a row has the marker, whatever the character set and the collation of its column are. */
const isMarker = (column: string) => `CONVERT(${column} USING utf8mb4) COLLATE utf8mb4_bin = :marker`;

/**
 * UidGenerator. Its process inserts a row, and has the `AUTO_INCREMENT` number for good: no row is read, changed or reused. So a
 * row of ours is one with a host that no process has. `PORT` is unique, as is that of UidGenerator, since some tables have a
 * unique key on both. `TYPE` 2 is its type of a process that is not in a container. Clock: the server's, for people to read.
 */
const workerNode = (table: string) => ({
  isOurs: `EXISTS (SELECT 1 FROM ${table} o WHERE o.ID = {node} AND ${isMarker("o.HOST_NAME")})`,
  largest: `(SELECT MAX(ID) FROM ${table})`,
  names: `SELECT NULL AS name FROM ${table} LIMIT 0`,
  readOurs: `SELECT ID AS node FROM ${table} WHERE ID BETWEEN :next AND :last AND ${isMarker("HOST_NAME")}
    ORDER BY ID LIMIT ${TAKEN_OVER}`,
  insert: `INSERT INTO ${table} (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED)
    VALUES (:marker, UUID(), 2, CURRENT_DATE, NOW(), NOW())`,
  check: `SELECT ID, HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED FROM ${table} LIMIT 0`,
});

/** A stamp that no clock reaches: the last millisecond of the year 9999. @internal */
export const NEVER_MS = 253_402_300_799_999;

/** The name of a row: the namespace, and the number with this many digits. `LPAD` alone would cut off a longer number. */
const nameOf = (digits: number, number: string) =>
  `CONCAT(:namespace, '.', LPAD(${number}, GREATEST(${digits}, LENGTH(${number})), '0'))`;
/** The digits of a number in the name, which is the primary key, by release of CosId. */
const DIGITS = [4, 8];

/**
 * CosId. Its process takes its own row, or one without an instance, or one whose stamp is 5 minutes older than its clock; else it
 * inserts `max(machine_id) + 1`, and tries again if the name exists. So a row of ours has an instance that no process has, and a
 * stamp that no clock reaches: nothing depends on the clock of a process, and no renewal has to write here. Two rows for each
 * number, since releases of CosId name a row in two ways, and each must find the name taken. By the primary key, a renewal locks
 * no row but these two.
 */
const cosIdMachine = (table: string) => ({
  isOurs: DIGITS.map(
    (digits) => `EXISTS (SELECT 1 FROM ${table} o FORCE INDEX (PRIMARY)
    WHERE o.name = ${nameOf(digits, "{node}")} AND ${isMarker("o.instance_id")})`,
  ).join(" AND "),
  largest: `(SELECT MAX(machine_id) FROM ${table} WHERE namespace = :namespace)`,
  names: `SELECT DISTINCT namespace AS name FROM ${table} ORDER BY namespace LIMIT ${NAMES + 1}`,
  readOurs: `SELECT DISTINCT machine_id AS node FROM ${table}
    WHERE namespace = :namespace AND ${isMarker("instance_id")} AND machine_id BETWEEN :next AND :last
    ORDER BY machine_id LIMIT ${TAKEN_OVER}`,
  insert: `INSERT INTO ${table} (name, namespace, machine_id, last_timestamp, instance_id, distribute_time, revert_time)
    VALUES ${DIGITS.map((digits) => `(${nameOf(digits, ":number")}, :namespace, :number, :never, :marker, :now, 0)`).join(", ")}`,
  check: `SELECT name, namespace, machine_id, last_timestamp, instance_id, distribute_time, revert_time
    FROM ${table} FORCE INDEX (PRIMARY) LIMIT 0`,
});

/** The number of namespaces that an error names. */
const NAMES = 5;

const FROM_RULE =
  'must be { workerNode: "WORKER_NODE" } or { cosId: { namespace: "…" } }\nIt is the table that the fleet takes its node ids from.';
const TABLE_RULE =
  "must be the name of a table, or of a database and a table, of letters, digits, _ and $, with a dot between";
const NAMESPACE_RULE =
  "must be 1 to 91 characters of ASCII, without quotes, backslash and control characters\nIt is the namespace of CosId (cosid.namespace).";
const WIDTH_RULE =
  "must have at most 23 bits of node ids\nThe names of rows in cosid_machine have room for seven digits.";
const MARKER_RULE = "must be frazil:, the scope, a colon and 8 hexadecimal digits, as init() writes it";
const ALLOW_EMPTY = "If no process of the fleet has ever started, pass nodeIdsFrom.allowEmpty: true.";
const EMPTY_RULE = `must have a row\nThis table has none, so it may be that of another database, or a copy. ${ALLOW_EMPTY}`;
const emptiedRule = (next: number) =>
  `must have a row\nThose of this table were deleted, and it counts on from ${next}. If every process of the fleet that runs has a lower number, pass nodeIdsFrom.allowEmpty: true.`;
/** `found`: namespaces that have rows. */
function emptyRule(table: string, found: readonly string[]): string {
  const names = found.slice(0, NAMES).map((name) => JSON.stringify(name));
  const others = found.length === 0 ? "none" : `${names.join(", ")}${found.length > NAMES ? ", …" : ""}`;
  return `must have a row in ${table}\nOtherwise node ids begin at 0 beside those of the fleet. Namespaces with rows: ${others}. ${ALLOW_EMPTY}`;
}
/** `name` has 100 characters: a dot and eight digits more. */
const NAMESPACE_LENGTH = 91;
/** With eight digits the two names of a row would be one. */
const MAX_MACHINE = 9_999_999;

const refuse = (field: string, value: unknown, rule: string) => configError("INVALID_OPTION", field, value, rule);

/**
 * A table as it stands in a statement, and where its engine is. Without a database it is in the one of Frazil's tables: the connections of
 * two programs of a scope may have others.
 */
function tableOf(field: string, value: unknown): { quoted: string; ofSchema: (column: string) => string } {
  if (typeof value !== "string" || !/^[\w$]{1,64}(\.[\w$]{1,64})?$/.test(value))
    throw optionError(field, value, TABLE_RULE);
  const parts = value.split(".");
  const name = parts.at(-1) as string;
  const [prefix, database] = parts.length > 1 ? ["", `'${parts[0]}'`] : ["{prefix}", "{database}"];
  return {
    quoted: prefix + parts.map((part) => `\`${part}\``).join("."),
    ofSchema: (column) =>
      `(SELECT ${column} FROM information_schema.tables WHERE table_schema = ${database} AND table_name = '${name}')`,
  };
}

/** Puts the old table of a scope into a statement; without one, every number is ours. @internal */
export const withOldTable = (statement: string, oldTable: OldTable | undefined): string =>
  statement
    .replace(/\{ours:(\w)\}/g, (_, row: string) => oldTable?.isOurs.replaceAll("{node}", `${row}.node`) ?? "1")
    // A function: a name of a table may contain $.
    .replaceAll("{largest}", () => oldTable?.largest ?? "NULL");

/** Refuses a layout whose node ids have no room in the old table. @internal */
export function checkWidth({ maxNode }: OldTable, nodeTo: number): void {
  if (nodeTo > maxNode) throw refuse("layout", `a layout with node ids to ${nodeTo}`, WIDTH_RULE);
}

/** Checks an old table before the first number is taken from it. Returns the number from which on its rows can be ours. @internal */
export function checkOldTable(
  oldTable: OldTable,
  { engine, largest }: { readonly engine: string; readonly largest: number },
  nodeTo: number,
): number {
  const { name } = oldTable;
  if (engine.toLowerCase() !== "innodb")
    throw storeRefused(
      `the table ${name} has the engine ${engine}, and must be InnoDB\nOthers lose numbers in a crash that were given out. ALTER TABLE ${name} ENGINE = InnoDB.`,
    );
  checkWidth(oldTable, nodeTo);
  if (largest > nodeTo) {
    const rule = `must have node ids to ${largest} at least, the largest number in ${name}\nIt is not the layout of that fleet.`;
    throw refuse("layout", nodeTo, rule);
  }
  return largest + 1;
}

/** A marker that no other record has: two of one scope name, in two databases, may share an old table. */
const drawMarker = (scope: string): string =>
  `frazil:${scope}:${(drawRandom()[0] as number).toString(16).padStart(8, "0")}`;

/**
 * How the record names an old table, as an expression that draws the marker: a file of SQL may be run in several databases. `drawn`:
 * the text with a marker.

 * @internal
 */
export const drawnText = (drawn: string): string =>
  `CONCAT('${drawn.replace(/(?<=^\{"marker":"frazil:[\w-]+:)[0-9a-f]{8}/, () => `', LPAD(LOWER(HEX(FLOOR(RAND() * 4294967296))), 8, '0'), '`)}')`;

/** What a scope draws its node ids from. @internal */
export function oldTableOf(scope: string, given: NodeIdsFrom): { oldTable: OldTable; allowEmpty: boolean } {
  const { allowEmpty = false } = checkKeys("INVALID_OPTION", "nodeIdsFrom", given, "workerNode, cosId, allowEmpty");
  if (typeof allowEmpty !== "boolean") throw refuse("nodeIdsFrom.allowEmpty", allowEmpty, PackageRule.TRUE_OR_FALSE);
  return { oldTable: tableWithMarker(given, drawMarker(scope)), allowEmpty };
}

/** `marker` is in the rows of the record. */
function tableWithMarker({ workerNode: table, cosId, ...given }: NodeIdsFrom, marker: string): OldTable {
  if ((table === undefined) === (cosId === undefined))
    throw refuse("nodeIdsFrom", { workerNode: table, cosId, ...given }, FROM_RULE);
  const about = (name: string, generator: string) => ({
    name,
    mismatch: `${name} is not a table as ${generator} makes it`,
    permission: `GRANT SELECT, INSERT ON ${name} TO your_role;`,
  });
  if (cosId === undefined) {
    const { quoted, ofSchema } = tableOf("nodeIdsFrom.workerNode", table);
    const statements = workerNode(quoted);
    return {
      ...statements,
      state: `SELECT ${ofSchema("engine")} AS engine, ${statements.largest} AS largest, ${ofSchema("auto_increment")} AS next_number`,
      engine: ofSchema("engine"),
      isEmpty: (_, next) => refuse("nodeIdsFrom.workerNode", table, next > 1 ? emptiedRule(next) : EMPTY_RULE),
      text: JSON.stringify({ marker, workerNode: table }),
      ...about(table as string, "UidGenerator"),
      values: { marker },
      maxNode: Number.MAX_SAFE_INTEGER,
    };
  }
  const { namespace, table: name = "cosid_machine" } = checkKeys(
    "INVALID_OPTION",
    "nodeIdsFrom.cosId",
    cosId,
    "namespace, table",
  );
  // Nothing that a client, in some mode of the server, would escape in another way than the server reads it.
  if (typeof namespace !== "string" || namespace.length > NAMESPACE_LENGTH || !/^[ !#-&(-[\]-_a-~]+$/.test(namespace))
    throw refuse("nodeIdsFrom.cosId.namespace", namespace, NAMESPACE_RULE);
  const { quoted, ofSchema } = tableOf("nodeIdsFrom.cosId.table", name);
  const statements = cosIdMachine(quoted);
  return {
    ...statements,
    state: `SELECT ${ofSchema("engine")} AS engine, ${statements.largest} AS largest, 0 AS next_number`,
    engine: ofSchema("engine"),
    isEmpty: (found) => refuse("nodeIdsFrom.cosId.namespace", namespace, emptyRule(name, found)),
    text: JSON.stringify({ marker, cosId: { namespace, table: name } }),
    ...about(name, "CosId"),
    values: { marker, namespace },
    maxNode: MAX_MACHINE,
  };
}

/** What the record of a scope names. @internal */
export function recordedTable(scope: string, text: string): OldTable {
  try {
    const { marker, ...from } = JSON.parse(text) as NodeIdsFrom & { marker?: unknown };
    if (typeof marker !== "string" || !/^frazil:[\w-]{1,32}:[0-9a-f]{8}$/.test(marker))
      throw refuse("marker", marker, MARKER_RULE);
    // As it is there: each read compares it, and a person may have written it in another way.
    return { ...tableWithMarker(from, marker), text };
  } catch (error) {
    throw storeRefused(
      saidOf(`node_ids_from of the scope "${scope}"`, "must be as init() wrote it", fromOutside(text)),
      error,
    );
  }
}
