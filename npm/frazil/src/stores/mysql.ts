/**
 * Leases in MariaDB and MySQL: one row for each node id, granted by one read and one compare-and-set.
 *
 * ```js
 * import { MySqlStore } from "frazil/stores/mysql";
 *
 * const store = new MySqlStore(mysql.createPool({ uri, connectionLimit: 2 })); // of mysql2/promise
 * await store.migrate(); // tables; may run at each start
 * await store.init({ layout: "default" }); // once for each scope, by hand or in a migration
 * ```
 *
 * - **One `UPDATE` decides** each operation: it compares the row and the record with what was read, and the server with the
 *   one that was read. Each statement is a transaction, and nothing is left open when the connection breaks.
 * - **The clock is that of the server**, in UTC, so no hour comes twice. A session whose clock `SET timestamp` has moved is
 *   refused.
 * - **Every isolation level**: what a read decides alone is a refusal, and every grant is written.
 * - **A grant is on disk before it is answered**: a server that is set up to lose commits is refused, at each operation.
 * - **A text of yours is sent as hexadecimal digits**: neither the mode `NO_BACKSLASH_ESCAPES` nor the character
 *   set of the connection matters.
 *
 * Not checked: `innodb_flush_method = nosync`, a disk that does not flush, several primaries at once, and on MySQL a client
 * that cannot say whether it is in a transaction of yours. Give the store a pool, or a connection of its own.
 */
import { monotonicClock } from "../clock.js";
import { ConfigError, FrazilError, type LeaseError } from "../errors.js";
import {
  alreadyInitialised,
  MAX_ATTEMPTS,
  notInitialised,
  pause,
  storeRefused,
  storeUnavailable,
  untilAborted,
  wholeOf,
} from "./answers.js";
import { hintFor } from "./clients.js";
import {
  type AcquireView,
  CompareAndSetStore,
  type LeaseTable,
  type RowView,
  type ScopeView,
} from "./compare-and-set.js";
import { checkGiven, clientError, optionError } from "./given.js";
import {
  checkOldTable,
  checkWidth,
  drawnText,
  NEVER_MS,
  type NodeIdsFrom,
  type OldTable,
  oldTableOf,
  recordedTable,
  withOldTable,
} from "./mysql-old-tables.js";
import { PERMISSIONS } from "./permissions.js";
import { fencedScope, type InitOptions, recordOf, type ScopeRecord } from "./requests.js";
import type { LeaseRow, Scope } from "./rules.js";
import type { AcquireRequest } from "./store.js";

export type { NodeIdsFrom } from "./mysql-old-tables.js";
export type { InitOptions } from "./requests.js";
export type * from "./store.js";

/**
 * The tables. Every write counts `writes` up: without that, a retry that sets what is there already would change no row, be
 * reported like a failed comparison, and be written to no log. `{scopes}` and `{leases}` are the tables.
 */
const SCOPES = `CREATE TABLE IF NOT EXISTS {scopes} (
  scope varchar(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  layout text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  node_from bigint NOT NULL,
  node_to bigint NOT NULL,
  next_node bigint NOT NULL, -- rows are made for the node ids below, never again
  window_max_ms bigint NOT NULL,
  fence_ms bigint NOT NULL, -- no window begins before
  incarnation text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- the server that wrote the rows
  node_ids_from text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, -- the table of another generator; null: numbered here
  writes bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (scope)
) ENGINE = InnoDB`;
const LEASES = `CREATE TABLE IF NOT EXISTS {leases} (
  scope varchar(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  node bigint NOT NULL,
  from_ms bigint NOT NULL,
  until_ms bigint NOT NULL,
  grant_id varchar(32) CHARACTER SET ascii COLLATE ascii_bin NULL, -- null: released
  nonce varchar(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
  owner varchar(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  writes bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (scope, node),
  UNIQUE KEY frazil_leases_grant (scope, grant_id),
  KEY frazil_leases_until (scope, until_ms, node)
) ENGINE = InnoDB`;

/**
 * The incarnation of this server, as hexadecimal digits: compared so, no collation takes two values for equal. A comment that
 * begins with `/*!50700` is a part of the statement in MySQL, one with `/*M!` in MariaDB.
 */
const INCARNATION = "HEX(CONVERT(({incarnation}) USING utf8mb4))";

/** The settings with which a server or a session may lose, or take back, what it acknowledged. */
const SETTINGS = `@@session.autocommit AS autocommit, /*M! @@in_transaction */ /*!50700 0 */ AS in_transaction,
  @@global.innodb_flush_log_at_trx_commit AS flush_log, @@global.log_bin AS log_bin, @@global.sync_binlog AS sync_binlog,
  @@session.binlog_format AS binlog_format, @@global.read_only AS read_only,
  /*M! @@global.wsrep_on */ /*!50700 0 */ AS galera`;

/** What exists of the tables. */
const EXISTING = `SELECT ${SETTINGS}, t.table_name AS name, t.engine AS engine
FROM (SELECT 1 AS one) o LEFT JOIN information_schema.tables t
  ON t.table_schema = {database} AND t.table_name IN ('frazil_scopes', 'frazil_leases') LIMIT 2`;

/**
 * The server at this moment: its clock in Unix milliseconds, its incarnation, its settings.
 *
 * `UTC_TIMESTAMP` is the start of the statement. `SET timestamp` moves it, as it does `NOW`, and not `SYSDATE`: `moved_us` tells.
 * `UNIX_TIMESTAMP(NOW(6))` is an hour wrong when the summer ends, since local time comes twice then. The time in `UUID()` is
 * that of the start of the server and a monotonic clock, which MariaDB never sets right again.
 */
const NOW_MS = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) DIV 1000";
const MOVED = "TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6))";
const SERVER = `${NOW_MS} AS now_ms, ${MOVED} AS moved_us, ${INCARNATION} AS incarnation, ${SETTINGS}`;

/** The record of a scope as it is read. */
const RECORD = `s.scope AS scope, s.layout AS layout, s.node_to AS node_to, s.next_node AS next_node,
  s.window_max_ms AS window_max_ms, s.fence_ms AS fence_ms, HEX(s.incarnation) AS recorded,
  s.node_ids_from AS node_ids_from`;
/** `{ours:k}`: whether the node id of the row is ours in the old table that the scope takes node ids from; 1 without one. */
const COLUMNS = "node, from_ms, until_ms, grant_id, nonce, {ours:k} AS is_ours";
const ROW = "l.node AS node, l.from_ms AS from_ms, l.until_ms AS until_ms, l.grant_id AS grant_id, l.nonce AS nonce";

/** The record, and the server, also without one. One statement is one snapshot at every isolation level. */
const READ_SCOPE = `SELECT ${SERVER}, ${RECORD}
FROM (SELECT 1 AS one) o LEFT JOIN {scopes} s ON s.scope = :scope LIMIT 1`;

/** The record and the row of a node id. */
const READ_ROW = `SELECT ${SERVER}, ${RECORD}, ${ROW}, {ours:l} AS is_ours
FROM (SELECT 1 AS one) o LEFT JOIN {scopes} s ON s.scope = :scope
  LEFT JOIN {leases} l ON l.scope = s.scope AND l.node = :node LIMIT 1`;

/** So many of the rows with the oldest end are read. */
const OLDEST = 64;

/**
 * The record; the row of a grant; the preferred row; the rows with the oldest end. Rows from `next_node` on are in the making,
 * and nobody's. The rows come in any order: sorting them with the texts of the record would take a table on disk.
 * `{largest}`: the largest number of the old table.
 */
const READ_FOR_ACQUIRE = `SELECT ${SERVER}, ${RECORD}, {largest} AS largest, l.kind AS kind, ${ROW}, l.is_ours AS is_ours
FROM (SELECT 1 AS one) o LEFT JOIN {scopes} s ON s.scope = :scope LEFT JOIN (
  (SELECT 1 AS kind, ${COLUMNS} FROM {leases} k WHERE scope = :scope AND grant_id = :grant)
  UNION ALL (SELECT 2, ${COLUMNS} FROM {leases} k WHERE scope = :scope AND node = :node AND {ours:k})
  UNION ALL (SELECT 3, ${COLUMNS} FROM {leases} k
    WHERE scope = :scope AND node < (SELECT next_node FROM {scopes} WHERE scope = :scope) AND {ours:k}
    ORDER BY until_ms, node LIMIT ${OLDEST})
) l ON l.node < s.next_node LIMIT ${OLDEST + 2}`;

/** Whether the row is as it was read. Its nonce is drawn for each attempt, so an equal row is one that nobody has written. */
const SAME_ROW = `l.scope = :scope AND l.node = :node AND l.until_ms = :seenUntil AND l.grant_id <=> :seenGrant
    AND l.nonce <=> :seenNonce`;

/** Whether the write lasts: a transaction of the program may have begun since the read, on a connection that it shares. */
const COMMITS = "@@session.autocommit = 1 AND /*M! @@in_transaction */ /*!50700 0 */ = 0";

/** Whether this is the server that was read, and the write lasts. */
const SAME_SERVER = `${INCARNATION} <=> :server AND ${COMMITS}`;

/**
 * `acquire`, `renew` and `release`. Invariant: a row is replaced only if it, the fence and the incarnations are those by which it
 * was decided; a failover between the read and this statement changes the last. Clock: that of the read, so that a statement
 * that comes late grants a window that ends early.
 */
const REPLACE_ROW = `UPDATE {leases} l JOIN {scopes} s ON s.scope = l.scope
  SET l.from_ms = :from, l.until_ms = :until, l.grant_id = :grant, l.nonce = :nonce,
    l.owner = IF(:isOwnerKept, l.owner, CONVERT(UNHEX(:owner) USING utf8mb4)), l.writes = l.writes + 1
  WHERE ${SAME_ROW} AND {ours:l}
    AND s.fence_ms = :fence AND HEX(s.incarnation) <=> :recorded AND ${SAME_SERVER}`;

/**
 * A lease that is answered once more. Other clients see a commit of InnoDB before it is on disk: what a retry has read could be
 * lost after it was answered. This write puts it there.
 */
const KEEP_ROW = `UPDATE {leases} l SET l.writes = l.writes + 1 WHERE ${SAME_ROW} AND {ours:l} AND ${COMMITS}`;

/**
 * Makes rows that were never granted, from `next_node` on. The lock on the record keeps a late statement from making a row that
 * was granted and deleted since. Rows of an attempt that ended before `RAISE_MARK` are there already.
 */
const MAKE_ROWS = `INSERT IGNORE INTO {leases} (scope, node, from_ms, until_ms)
  SELECT s.scope, s.next_node + a.d + 16 * b.d + 256 * c.d, 0, 0
  FROM {scopes} s JOIN {digits} a JOIN {digits} b JOIN {digits} c
  WHERE s.scope = :scope AND s.next_node = :next AND s.next_node + a.d + 16 * b.d + 256 * c.d <= :last
  LOCK IN SHARE MODE`;
const DIGITS = `(SELECT 0 AS d ${Array.from({ length: 15 }, (_, at) => `UNION ALL SELECT ${at + 1}`).join(" ")})`;

/** So long after its read a fence may be written. The margin of a fence is five times that. */
const LATE_MS = 1000;

/** Rows below the mark can be granted. Invariant: it only grows, and only where the rows are: a failover may have lost them. */
const RAISE_MARK = `UPDATE {scopes} s SET s.next_node = :last + 1, s.writes = s.writes + 1
  WHERE s.scope = :scope AND s.next_node = :next
    AND EXISTS (SELECT 1 FROM {leases} l WHERE l.scope = :scope AND l.node = :last)`;

/**
 * Makes rows for numbers that are ours in an old table, in the place of `MAKE_ROWS`. Their first window begins now, and not at 0,
 * since the old table may have been emptied once: its generator then had these numbers before.
 */
const TAKE_OVER = `INSERT IGNORE INTO {leases} (scope, node, from_ms, until_ms)
  SELECT s.scope, n.node, :now, :now FROM {scopes} s JOIN ({numbers}) n
  WHERE s.scope = :scope AND s.next_node = :next LOCK IN SHARE MODE`;

/** Numbers that are not ours any more: the other generator may have had them since, and it may have minted ahead of the time. */
const NOT_OURS = "l.scope = :scope AND l.until_ms < :never AND NOT ({ours:l})";
const RETIRE = `UPDATE {leases} l SET l.until_ms = :never, l.grant_id = NULL, l.writes = l.writes + 1 WHERE ${NOT_OURS}`;

/**
 * `leaveOldTable`, behind `RETIRE`. Invariant: the mark is beyond every number of the old table, and no number is granted that was
 * not ours at the end. No other row of a lease changes.
 */
const LEAVE = `UPDATE {scopes} s
  SET s.next_node = GREATEST(s.next_node, 1 + COALESCE({largest}, -1)), s.node_ids_from = NULL, s.writes = s.writes + 1
  WHERE s.scope = :scope AND HEX(s.node_ids_from) = :from AND NOT EXISTS (SELECT 1 FROM {leases} l WHERE ${NOT_OURS})`;

/**
 * `ensure` and `fence`. Invariant: the fence is raised from the one, on the server, by which that was decided, and at once. What was
 * read may be a replica that was promoted since, and a fence that counts from before would not cover what the primary granted
 * meanwhile. Clock: that of the read, and at the moment of the write at most `LATE_MS` more.
 */
const REPLACE_SCOPE = `UPDATE {scopes} s
  SET s.fence_ms = :raised, s.incarnation = CONVERT(UNHEX(:incarnation) USING utf8mb4), s.writes = s.writes + 1
  WHERE s.scope = :scope AND s.fence_ms = :fence AND HEX(s.incarnation) <=> :recorded AND ${SAME_SERVER}
    AND ${NOW_MS} + GREATEST(0, ${MOVED}) DIV 1000 <= :now + ${LATE_MS}`;

/** `init`. Invariant: a record is written once, and never for a scope whose rows are still there. No clock: the fence is 0. */
const INIT = `INSERT INTO {scopes}
    (scope, layout, node_from, node_to, next_node, window_max_ms, fence_ms, incarnation, node_ids_from)
  SELECT :scope, CONVERT(UNHEX(:layout) USING utf8mb4), :from, :to, :next, :windowMax, 0,
    CONVERT(UNHEX(:server) USING utf8mb4), CONVERT(UNHEX(:nodeIdsFrom) USING utf8mb4)
  FROM (SELECT 1 AS one) o
  WHERE ${SAME_SERVER} AND NOT EXISTS (SELECT 1 FROM {leases} WHERE scope = :scope)`;

/** Whether a scope has rows. */
const ANY_ROW = "SELECT l.node AS node FROM {leases} l WHERE l.scope = :scope LIMIT 1";

/** The tables of UidGenerator and CosId in the database of the store. */
const OLD_TABLES = `SELECT DISTINCT c.table_name AS name FROM information_schema.columns c
  WHERE c.table_schema = {database}
    AND (LOWER(c.table_name), LOWER(c.column_name)) IN (('worker_node', 'launch_date'), ('cosid_machine', 'machine_id'))`;

/**
 * The record of `INIT` for people to run. It fails if the scope has one, and writes none if the scope has rows without one. `{first}`: the first new node id. `{condition}`: what `init`
 * checks; without it there is no record, and programs say that the scope has none.
 */
const INSERT_RECORD = `INSERT INTO {scopes}
  (scope, layout, node_from, node_to, next_node, window_max_ms, fence_ms, incarnation, node_ids_from)
SELECT :scope, :layout, :from, :to, {first}, :windowMax, 0, CONVERT(({incarnation}) USING utf8mb4), :nodeIdsFrom
FROM (SELECT 1 AS one) o
WHERE {condition} AND (EXISTS (SELECT 1 FROM {scopes} WHERE scope = :scope)
  OR NOT EXISTS (SELECT 1 FROM {leases} WHERE scope = :scope));
SELECT scope, layout, next_node, node_to, node_ids_from FROM {scopes} WHERE scope = :scope;
`;

/**
 * The incarnation of a server. MySQL draws `server_uuid` for each data folder. MariaDB has nothing like it: servers that
 * replicate from each other must differ in `server_id`, and the rest tells those apart that do not.
 */
const IDENTITY =
  "/*!50700 @@global.server_uuid */ /*M! CONCAT_WS('/', @@global.server_id, @@global.hostname, @@global.port) */";

/** What the store hands a client: a statement, and settings that a program may have changed for its own. */
export interface MySqlStatement {
  readonly sql: string;
  readonly rowsAsArray: boolean;
  readonly nestTables: boolean;
  readonly namedPlaceholders: boolean;
}

/** What a client with promises can do: a pool or a connection of `mysql2/promise` or `mariadb`. */
export interface MySqlPromiseClient {
  query(statement: MySqlStatement, values: (string | number | null)[]): PromiseLike<unknown>;
}

/** What a pool or a connection of `mysql2` with callbacks can do. */
export interface MySqlCallbackClient {
  promise(): MySqlPromiseClient;
}

/** Your client: a pool or a connection of `mysql2` or `mariadb`. The store neither opens nor closes it. */
export type MySqlClient = MySqlPromiseClient | MySqlCallbackClient;

/** The options of a `MySqlStore`. */
export interface MySqlStoreOptions {
  /** The database of the tables. Default: that of the connection. */
  readonly database?: string;
  /**
   * How a server is told from the one that replaced it after a failover.
   *
   * - `"server"` (default): `server_uuid` on MySQL; `server_id`, host name and port on MariaDB.
   * - `{ sql }`: an SQL expression of your own, whose value changes whenever acknowledged writes may have been lost.
   * - `"none-accepting-repeats-after-failover"`: not at all. If a replica is promoted that lacks the last writes, IDs repeat.
   */
  readonly incarnation?: "server" | { readonly sql: string } | "none-accepting-repeats-after-failover";
}

/** What `init` is given. */
export interface MySqlInitOptions extends InitOptions {
  /**
   * The table that a fleet of UidGenerator or CosId takes its node ids from, to mint beside it: `docs/moving-in.md`. New node
   * ids then come from there, so `nodes` is not given. `"none"`: the store numbers them itself, although the database has
   * such a table.
   */
  readonly nodeIdsFrom?: NodeIdsFrom | "none";
}

const CLIENT_RULE =
  "must be a pool or a connection of mysql2 (mysql2/promise, or one with callbacks and its promise()) or of mariadb: an object " +
  "with query(statement, values) that returns a promise";
const PROMISE_RULE =
  "the client returned no promise. Use mysql2/promise or pool.promise() of mysql2, or the package mariadb without /callback";
const ALONE_RULE =
  'must be given, since this database has the table {table} of another generator: { workerNode } or { cosId } if its processes mint IDs for the same column (docs/moving-in.md), "none" if they do not';
const LEFT_RULE = "must take its node ids from an old table: it numbers them itself";
const NODES_RULE = "must not be given with nodeIdsFrom: the node ids are the numbers of that table";
/** Where the tables are, for errors. */
const PLACE = "SELECT {database} AS name";

const DATABASE_RULE = "must be the name of a database: a letter or _, then at most 63 letters, digits, _, $ or -";
const INCARNATION_RULE =
  'must be "server", { sql } with an SQL expression without ?, or "none-accepting-repeats-after-failover"';

/** The errors after which a statement certainly did not take place, and something else may be there to decide on. */
const CONFLICTS = [
  1020, // ER_CHECKREAD: somebody else has changed the record (innodb_snapshot_isolation)
  1205, // ER_LOCK_WAIT_TIMEOUT
  1062, // ER_DUP_ENTRY: an earlier attempt with this grant has just ended
  1213, // ER_LOCK_DEADLOCK
];
const NO_SUCH_TABLE = 1146;
const NO_SUCH_COLUMN = 1054;
const NO_SUCH_KEY = 1176;
const DUPLICATE = 1062;
/** The server, or this session, takes no writes. */
const READ_ONLY = [1290, 1792, 1836];
const NO_RIGHT_ON_DATABASE = 1044;
const NO_DATABASE = 1049;
const NO_RIGHT = [1142, 1143, 1227, 1370];
/** Other statements that cannot run here, wrong credentials, and a database that does not exist. */
const REFUSED = [
  1045, 1046, 1048, 1054, 1064, 1130, 1176, 1193, 1235, 1241, 1242, 1251, 1267, 1305, 1364, 1366, 1406, 1524, 1582,
  1698,
];

type Values = Readonly<Record<string, string | number | null>>;
type Row = Readonly<Record<string, unknown>>;

type Query = (text: string, values: (string | number | null)[]) => PromiseLike<unknown>;

/** The call of a client that runs a statement. */
function queryOf(client: unknown): Query {
  let given = (client ?? {}) as { query?: unknown; promise?: unknown };
  if (typeof given.promise === "function") given = given.promise() as typeof given;
  const { query } = given;
  const rule = CLIENT_RULE + hintFor("mysql", given);
  if (typeof query !== "function" || rule !== CLIENT_RULE) throw clientError(client, rule);
  return (sql, values) => {
    const statement: MySqlStatement = { sql, rowsAsArray: false, nestTables: false, namedPlaceholders: false };
    const result = (query as Query).call(given, statement as unknown as string, values) as unknown;
    if (typeof (result as { then?: unknown } | undefined)?.then !== "function") throw storeRefused(PROMISE_RULE);
    return result as PromiseLike<unknown>;
  };
}

/** The result itself: `mysql2` answers it in an array with the columns beside it. */
const resultOf = (answer: unknown): unknown =>
  Array.isArray(answer) &&
  (Array.isArray(answer[0]) || (answer[0] as { affectedRows?: unknown } | null | undefined)?.affectedRows !== undefined)
    ? answer[0]
    : answer;

/** The rows of a result. */
function rowsOf(answer: unknown): readonly Row[] {
  const rows = resultOf(answer);
  if (!Array.isArray(rows) || rows.some((row) => typeof row !== "object" || row === null || Array.isArray(row)))
    throw storeRefused("the client returned no rows with names: turn its array mode off");
  return rows;
}

/** A setting of the server that is on. */
const isOn = (value: unknown): boolean => !["0", "OFF", "false", "null", "undefined"].includes(String(value));

/** Refuses a server or a session that may lose, or take back, what it acknowledged. */
function checkServer(row: Row | undefined): asserts row is Row {
  if (row === undefined) throw storeRefused("the client returned no row, where the server always has one");
  const refuse = (setting: string, rule: string) => storeRefused(`${setting} is ${String(row[setting])}: ${rule}`);
  if (!isOn(row["autocommit"]))
    throw refuse(
      "autocommit",
      "must be 1. A rollback takes a grant back that was answered. Give the store a pool of its own",
    );
  if (isOn(row["in_transaction"])) throw storeRefused(TRANSACTION_RULE);
  if (isOn(row["read_only"])) throw refuse("read_only", READ_ONLY_RULE);
  const flush = String(row["flush_log"]);
  if (flush !== "1" && flush !== "3")
    throw storeRefused(
      `innodb_flush_log_at_trx_commit is ${flush}: must be 1. Otherwise a crash takes the last grants back, and IDs repeat. SET GLOBAL innodb_flush_log_at_trx_commit = 1, and in the configuration of the server`,
    );
  if (isOn(row["log_bin"]) && String(row["sync_binlog"]) !== "1")
    throw refuse(
      "sync_binlog",
      "must be 1 with the binary log on. Otherwise a crash of the host takes the last grants back, and IDs repeat. SET GLOBAL sync_binlog = 1, and in the configuration of the server",
    );
  if (isOn(row["log_bin"]) && row["binlog_format"] === "STATEMENT")
    throw refuse(
      "binlog_format",
      "must be ROW or MIXED: a replica would compare its own incarnation, and lack the leases",
    );
  if (isOn(row["galera"]))
    throw storeRefused("wsrep_on is 1: a Galera cluster is not supported. Two of its nodes can be written to at once");
}
const TRANSACTION_RULE =
  "the client is inside a transaction of yours, whose rollback takes a grant back that was answered. Give the store a pool, or a connection of its own";
const READ_ONLY_RULE = "this is a replica, or a server that takes no writes. Connect to the primary";

/** So far `NOW` and `SYSDATE` may lie apart. A fence has a margin of five seconds. */
const MOVED_US = 1_000_000;
const MOVED_RULE =
  "the clock of the session is moved by SET timestamp, and fences would not cover what was granted: SET timestamp = DEFAULT, or give the store a pool of its own";

/** The incarnation in a row, which must have a value: two servers without one could not be told apart. */
function incarnationOf(row: Row): string {
  const value = row["incarnation"];
  if (typeof value !== "string" || value === "")
    throw storeRefused(
      "the expression of the option incarnation is null or empty, so no failover could be told. It must always have a value",
    );
  return value;
}

/** The record of a scope, and the table that its new node ids come from, if that is an old one. */
interface MySqlScope extends Scope {
  readonly oldTable: OldTable | undefined;
  /** Rows are made for the numbers below. With an old table, `nextNode` is beyond the largest number there. */
  readonly mark: number;
}

/** The server, and the record if there is one. */
function scopeViewOf(row: Row | undefined, oldTable: OldTable | undefined): ScopeView<MySqlScope> | undefined {
  checkServer(row);
  const incarnation = incarnationOf(row);
  if (row["scope"] === null) return undefined;
  return {
    moment: { nowMs: wholeOf("now_ms", row["now_ms"]), incarnation },
    scope: {
      layout: String(row["layout"]),
      nodeTo: wholeOf("node_to", row["node_to"]),
      ...numbersOf(row, oldTable),
      oldTable,
      windowMaxMs: wholeOf("window_max_ms", row["window_max_ms"]),
      fenceMs: wholeOf("fence_ms", row["fence_ms"]),
      incarnation: String(row["recorded"]),
    },
  };
}

/** The next new node id, and who else draws from the same numbers. */
function numbersOf(row: Row, oldTable: OldTable | undefined) {
  const mark = wholeOf("next_node", row["next_node"]);
  if (oldTable === undefined) return { mark, nextNode: mark };
  const largest = wholeOf("largest", row["largest"] ?? -1);
  const sharedWith = `the table ${oldTable.name}, whose largest number is ${largest}`;
  return { mark, nextNode: Math.max(mark, largest + 1), sharedWith };
}

const textOrNull = (value: unknown): string | null => (value === null ? null : String(value));

function leaseRowOf(row: Row): LeaseRow | undefined {
  if (row["node"] === null) return undefined;
  const isOurs = wholeOf("is_ours", row["is_ours"]) === 1;
  return {
    node: wholeOf("node", row["node"]),
    fromMs: wholeOf("from_ms", row["from_ms"]),
    untilMs: wholeOf("until_ms", row["until_ms"]),
    // A number that is not ours any more has no lease: it is as if it had been released.
    grant: isOurs ? textOrNull(row["grant_id"]) : null,
    nonce: isOurs ? textOrNull(row["nonce"]) : null,
    owner: KEPT,
  };
}
/** The owner of a row that was read: a write that has it leaves the owner as it is. No text of a request contains U+0000. */
const KEPT = "\0";

const hexOf = (text: string | null) => (text === null ? null : Buffer.from(text, "utf8").toString("hex"));

/** What a compare-and-set compares. */
const sameRow = (scope: string, seen: LeaseRow): Values => ({
  scope,
  node: seen.node,
  seenUntil: seen.untilMs,
  seenGrant: seen.grant,
  seenNonce: seen.nonce,
});
const sameScope = ({ scope, moment }: ScopeView<Scope>): Values => ({
  fence: scope.fenceMs,
  recorded: scope.incarnation,
  server: moment.incarnation,
});

/** An old table that new node ids come from. */
type OldTableSource = ReturnType<typeof oldTableOf>;
/** Where new node ids come from. Undefined: the store numbers them, if the database has no old table. */
type NodeIdSource = OldTableSource | "none" | undefined;

const sourceText = (source: NodeIdSource): string | null => (typeof source === "object" ? source.oldTable.text : null);

/** What `init` is given, checked. */
function sourceOf(options: MySqlInitOptions): { readonly record: ScopeRecord; readonly source: NodeIdSource } {
  const { nodeIdsFrom, ...others } = (options ?? {}) as MySqlInitOptions;
  if (nodeIdsFrom === undefined) return { record: recordOf(options), source: undefined };
  if (nodeIdsFrom === "none") return { record: recordOf(others), source: "none" };
  if (others.nodes !== undefined) throw optionError("nodes", others.nodes, NODES_RULE);
  const record = recordOf(others);
  return { record, source: oldTableOf(record.scope, nodeIdsFrom) };
}

/** The tables, and the statements that read and write them. */
class MySqlTable implements LeaseTable<MySqlScope, LeaseRow> {
  readonly name = "mysql";
  readonly #query: Query;
  readonly #complete: (statement: string) => string;
  /** By scope, as its record was last read. Each read of a record compares it. */
  readonly #oldTables = new Map<string, OldTable>();

  constructor(client: MySqlClient, options: MySqlStoreOptions) {
    this.#query = queryOf(client);
    this.#complete = completion(options);
  }

  async readForAcquire(request: AcquireRequest): Promise<AcquireView<MySqlScope, LeaseRow> | undefined> {
    const { scope, grant, nonce, node = -1, signal } = request;
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const found = await this.#readOf(scope, READ_FOR_ACQUIRE, { grant, node }, signal);
      if (found === undefined) return undefined;
      const { rows, view } = found;
      const of = (kind: number) =>
        rows
          .filter((row) => row["kind"] !== null && wholeOf("kind", row["kind"]) === kind)
          .map(leaseRowOf) as LeaseRow[];
      const [mine] = of(1);
      const oldest = of(3).sort((a, b) => a.untilMs - b.untilMs || a.node - b.node);
      const preferred = of(2);
      const others = preferred.length > 0 ? oldest.filter((row) => row.node !== node) : oldest;
      const free = [...preferred, ...others].filter(({ untilMs }) => untilMs <= view.moment.nowMs);
      if (mine?.nonce !== nonce || (await this.#writeOf(view, KEEP_ROW, sameRow(scope, mine), signal)))
        return { ...view, mine, free, earliestMs: oldest[0]?.untilMs };
      if (attempt === MAX_ATTEMPTS)
        throw storeUnavailable(
          `the lease was not the same when it was written once more, ${MAX_ATTEMPTS} times: reads may go to another server than writes`,
        );
      await pause(attempt, signal);
    }
  }

  async readRow(
    scope: string,
    node: number,
    signal: AbortSignal | undefined,
  ): Promise<RowView<MySqlScope, LeaseRow> | undefined> {
    const found = await this.#readOf(scope, READ_ROW, { node }, signal);
    return found && { ...found.view, row: leaseRowOf(found.rows[0] as Row) };
  }

  async readScope(scope: string, signal: AbortSignal | undefined): Promise<ScopeView<MySqlScope> | undefined> {
    return (await this.#readOf(scope, READ_SCOPE, {}, signal))?.view;
  }

  async replaceRow(
    scope: string,
    view: ScopeView<MySqlScope>,
    seen: LeaseRow,
    { fromMs, untilMs, grant, nonce, owner }: LeaseRow,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const isOwnerKept = owner === KEPT ? 1 : 0;
    const row = { from: fromMs, until: untilMs, grant, nonce, isOwnerKept, owner: isOwnerKept ? null : hexOf(owner) };
    return this.#writeOf(view, REPLACE_ROW, { ...row, ...sameRow(scope, seen), ...sameScope(view) }, signal);
  }

  async makeRows(
    scope: string,
    view: ScopeView<MySqlScope>,
    last: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { nextNode, oldTable } = view.scope;
    if (oldTable !== undefined) return this.#takeOver(scope, view, oldTable, signal);
    await this.#write(MAKE_ROWS, { scope, next: nextNode, last }, signal);
    await this.#write(RAISE_MARK, { scope, next: nextNode, last }, signal);
  }

  /** Makes rows for our numbers of the old table that have none: of earlier attempts, or else for one that is inserted there. */
  async #takeOver(
    scope: string,
    view: ScopeView<MySqlScope>,
    { readOurs, insert }: OldTable,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { mark: next, nextNode, nodeTo } = view.scope;
    const { nowMs: now } = view.moment;
    const read = async () => {
      const values = { ...view.scope.oldTable?.values, next, last: nodeTo };
      return ((await this.#read(readOurs, values, signal)) as Row[]).map((row) => wholeOf("node", row["node"]));
    };
    let numbers = await read();
    if (numbers.length === 0) {
      try {
        await this.#writeOf(view, insert, { number: nextNode, never: NEVER_MS, now }, signal);
      } catch (error) {
        if (numberOf(causeOf(error)) === DUPLICATE) return;
        throw error;
      }
      numbers = await read();
    }
    const last = numbers.at(-1);
    // The number that came next is beyond the range.
    if (last === undefined) return;
    const rows = numbers.map((number) => `SELECT ${number} AS node`).join(" UNION ALL ");
    await this.#write(TAKE_OVER.replace("{numbers}", rows), { scope, now, next }, signal);
    await this.#write(RAISE_MARK, { scope, next, last }, signal);
  }

  async replaceScope(
    scope: string,
    view: ScopeView<MySqlScope>,
    { fenceMs, incarnation }: Scope,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const values = { scope, raised: fenceMs, incarnation, now: view.moment.nowMs, ...sameScope(view) };
    return this.#write(REPLACE_SCOPE, values, signal);
  }

  async create(
    { scope, layout, nodeFrom, nodeTo, windowMaxMs }: ScopeRecord,
    source?: NodeIdSource,
  ): Promise<{ layout: string } | "rows" | undefined> {
    const nodeIdsFrom = hexOf(sourceText(source));
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      // Before the record: what another process makes meanwhile has a record before it has rows.
      const left = await this.#read(ANY_ROW, { scope }, undefined);
      const rows = left && (await this.#read(READ_SCOPE, { scope }, undefined));
      if (rows === undefined) throw notInitialised(this, scope, await this.placeOf(scope, undefined));
      const [row] = rows as [Row];
      const found = scopeViewOf(row, undefined);
      if (found !== undefined) return { layout: found.scope.layout };
      if (left?.length) return "rows";
      if (source === undefined) await this.#checkAlone();
      const next = typeof source === "object" ? await this.#checked(source, nodeTo) : nodeFrom;
      const range = { from: nodeFrom, to: nodeTo, next };
      const values = { scope, layout: hexOf(layout), ...range, windowMax: windowMaxMs, nodeIdsFrom };
      if (await this.#write(INIT, { ...values, server: incarnationOf(row) }, undefined)) return undefined;
      await pause(attempt, undefined);
    }
    throw storeUnavailable(`the record could not be written: others wrote at the same time, ${MAX_ATTEMPTS} times`);
  }

  /** Refuses a scope that numbers by itself beside an old table. */
  async #checkAlone(): Promise<void> {
    const [found] = (await this.#read(OLD_TABLES, {}, undefined)) as readonly Row[];
    if (found) throw optionError("nodeIdsFrom", undefined, ALONE_RULE.replace("{table}", String(found["name"])));
  }

  /** Checks that node ids can come from a table. Returns the number from which on its rows can be ours. */
  async #checked({ oldTable, allowEmpty }: OldTableSource, nodeTo: number): Promise<number> {
    const { name, mismatch, permission, values } = oldTable;
    try {
      await this.#read(oldTable.check, {}, undefined);
    } catch (error) {
      const number = numberOf(causeOf(error));
      const reported = (error as LeaseError).message;
      if (number === NO_SUCH_TABLE)
        throw storeRefused(`nodeIdsFrom names the table ${name}, which does not exist: ${reported}`, error);
      if (NO_RIGHT.includes(number))
        throw storeRefused(`nodeIdsFrom names the table ${name}, which needs ${permission} ${reported}`, error);
      throw [NO_SUCH_COLUMN, NO_SUCH_KEY].includes(number) ? storeRefused(`${mismatch}: ${reported}`, error) : error;
    }
    const [row] = (await this.#read(oldTable.state, values, undefined)) as readonly Row[];
    const engine = String(row?.["engine"]);
    const largest = wholeOf("largest", row?.["largest"] ?? -1);
    const first = checkOldTable(oldTable, { engine, largest }, nodeTo);
    if (largest < 0 && !allowEmpty) {
      const names = (await this.#read(oldTable.names, {}, undefined)) as readonly Row[];
      throw oldTable.isEmpty(
        names.map((found) => String(found["name"])),
        wholeOf("next", row?.["next_number"] ?? 0),
      );
    }
    return first;
  }

  async placeOf(_scope: string, signal: AbortSignal | undefined): Promise<string> {
    const [row] = (await this.#read(PLACE, {}, signal)) ?? [];
    return `the table frazil_scopes of the database ${String(row?.["name"])}, which migrate() makes`;
  }

  /** `leaveOldTable`. Resolves to whether there was one to leave; to `undefined` without a record. */
  async leave(scope: string): Promise<boolean | undefined> {
    for (let attempt = 1; ; attempt++) {
      const view = await this.readScope(scope, undefined);
      if (view?.scope.oldTable === undefined) return view && false;
      const from = hexOf(view.scope.oldTable.text)?.toUpperCase() as string;
      await this.#writeOf(view, RETIRE, { scope, never: NEVER_MS }, undefined);
      if (await this.#writeOf(view, LEAVE, { scope, from, never: NEVER_MS }, undefined)) return true;
      if (attempt === MAX_ATTEMPTS) throw storeUnavailable(`the record was locked ${MAX_ATTEMPTS} times`);
      await pause(attempt, undefined);
    }
  }

  async migrate(): Promise<void> {
    for (let isMade = false; ; isMade = true) {
      const rows = (await this.#read(EXISTING, {}, undefined)) as readonly Row[];
      checkServer(rows[0]);
      const wrong = rows.find(({ name, engine }) => name !== null && engine !== "InnoDB");
      if (wrong)
        throw storeRefused(
          `the table ${String(wrong["name"])} has the engine ${String(wrong["engine"])}: must be InnoDB, since others lose what they acknowledged. ALTER TABLE ${String(wrong["name"])} ENGINE = InnoDB`,
        );
      if (isMade || rows.length === 2) return;
      for (const statement of [SCOPES, LEASES]) await this.#ask(this.#complete(statement), [], undefined);
    }
  }

  /** Reads of a scope, with the old table that its record names. Returns undefined without a record. */
  async #readOf(
    scope: string,
    statement: string,
    values: Values,
    signal: AbortSignal | undefined,
  ): Promise<{ rows: readonly Row[]; view: ScopeView<MySqlScope> } | undefined> {
    for (;;) {
      const oldTable = this.#oldTables.get(scope);
      const all = { ...oldTable?.values, ...values, scope };
      const rows = await this.#read(withOldTable(statement, oldTable), all, signal).catch(async (error: unknown) => {
        // The scope may have left that table, which was dropped then.
        const record = oldTable && (await this.#read(READ_SCOPE, { scope }, signal));
        if (record === undefined || record[0]?.["node_ids_from"] === oldTable?.text) throw error;
        return record;
      });
      if (rows === undefined) return undefined;
      const [row] = rows;
      const view = scopeViewOf(row, oldTable);
      if (view === undefined) return undefined;
      const recorded = textOrNull((row as Row)["node_ids_from"]);
      if (recorded === (oldTable?.text ?? null)) return { rows, view };
      if (recorded === null) this.#oldTables.delete(scope);
      else this.#oldTables.set(scope, recordedTable(scope, recorded));
    }
  }

  /** Writes, with the old table by which that was decided. */
  async #writeOf(
    { scope: { oldTable } }: ScopeView<MySqlScope>,
    statement: string,
    values: Values,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    return this.#write(withOldTable(statement, oldTable), { ...oldTable?.values, ...values }, signal);
  }

  /** Runs a statement that reads. Returns its rows, or undefined if the tables are missing. */
  async #read(statement: string, values: Values, signal: AbortSignal | undefined): Promise<readonly Row[] | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        const startedMs = monotonicClock();
        const rows = rowsOf(await this.#ask(...this.#bound(statement, values), signal));
        // A statement that had to wait for the tables began as long ago as that took.
        const waitedUs = (monotonicClock() - startedMs) * 1000;
        const movedUs = wholeOf("moved_us", rows[0]?.["moved_us"] ?? 0);
        if (movedUs >= -MOVED_US && movedUs <= waitedUs + MOVED_US) return rows;
        // Local time goes back, or forward, once in the middle of a statement.
        if (attempt > 1) throw storeRefused(MOVED_RULE);
      } catch (error) {
        const number = numberOf(causeOf(error));
        if (number === NO_SUCH_TABLE && /frazil_(scopes|leases)/.test((error as LeaseError).message)) return undefined;
        if (!CONFLICTS.includes(number) || attempt === MAX_ATTEMPTS) throw error;
        await pause(attempt, signal);
      }
    }
  }

  /** Runs a statement that writes if a condition holds. Returns whether it did: if not, or if it met another, all is as it was. */
  async #write(statement: string, values: Values, signal: AbortSignal | undefined): Promise<boolean> {
    try {
      const result = resultOf(await this.#ask(...this.#bound(statement, values), signal)) as Row | undefined;
      const affected = wholeOf("affectedRows", result?.["affectedRows"]);
      // The status that the server sends with each result: bit 0 is a transaction that is open.
      if (typeof result?.["serverStatus"] === "number" && result["serverStatus"] & 1)
        throw storeRefused(TRANSACTION_RULE);
      return affected > 0;
    } catch (error) {
      if (CONFLICTS.includes(numberOf(causeOf(error)))) return false;
      throw error;
    }
  }

  /** A statement with `?` for its values, in their order, and with the tables and the incarnation. */
  #bound(statement: string, values: Values): [string, (string | number | null)[]] {
    const bound: (string | number | null)[] = [];
    const text = statement.replace(/:([a-z]\w*)/gi, (_, name: string) => {
      bound.push(values[name] as string | number | null);
      return "?";
    });
    return [this.#complete(text), bound];
  }

  async #ask(text: string, values: (string | number | null)[], signal: AbortSignal | undefined): Promise<unknown> {
    signal?.throwIfAborted();
    try {
      return await untilAborted((async () => this.#query(text, values))(), signal);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw FrazilError.is(error) ? error : this.#errorOf(error);
    }
  }

  /** The error for a failure of the client, which stays its cause. */
  #errorOf(error: unknown): LeaseError {
    // The pool of `mariadb` reports that it got no connection, and has the answer of the server as the cause.
    const answered = numberOf(error) === 0 && numberOf(causeOf(error)) > 0 ? causeOf(error) : error;
    const message = answered instanceof Error ? answered.message : String(answered);
    const number = numberOf(answered);
    const { severity, code } = (error ?? {}) as { severity?: unknown; code?: unknown };
    if (number === 0 && typeof severity === "string" && typeof code === "string")
      return storeRefused(
        `the server answered ${code} (${message}), as Postgres does: it needs PostgresStore of frazil/stores/postgres`,
        error,
      );
    if (number === 0) return storeUnavailable(`the server did not answer: ${message}`, error);
    const reported = `the server answered ${number} (${message})`;
    const permissions = [...PERMISSIONS, ...[...this.#oldTables.values()].map(({ permission }) => permission)];
    if (NO_RIGHT.includes(number))
      return storeRefused(
        `${reported}: the user lacks a right. Programs need: ${this.#complete(permissions.join(" "))} init() needs INSERT on the first in addition, and migrate() CREATE on the database`,
        error,
      );
    if (number === NO_DATABASE || number === NO_RIGHT_ON_DATABASE)
      return storeRefused(
        `${reported}: ${number === NO_DATABASE ? "there is no such database" : "the user has no right on this database, or there is none of this name"}. Check the database in the settings of the client and the option database`,
        error,
      );
    const [missing = ""] = number === NO_SUCH_TABLE ? (/(?<=[.'`])[^.'`]+(?='|`)/.exec(message) ?? []) : [];
    const user = [...this.#oldTables].find(
      ([, { name }]) => name.split(".").at(-1)?.toLowerCase() === missing.toLowerCase(),
    );
    if (user !== undefined)
      return storeRefused(
        `${reported}: the scope "${user[0]}" takes its node ids from it. Restore it. Before an old table is dropped, call leaveOldTable({ scope: "${user[0]}" })`,
        error,
      );
    if (READ_ONLY.includes(number)) return storeRefused(`${reported}: ${READ_ONLY_RULE}`, error);
    if (number === 1046)
      return storeRefused(
        `${reported}: name a database in the settings of the client, or pass the option database`,
        error,
      );
    if (number === 1193)
      return storeRefused(
        `${reported}: this server cannot say which incarnation it is, or how it is set up. It must be MySQL 5.7 or MariaDB 10.6, or newer, or the option incarnation is wrong`,
        error,
      );
    return REFUSED.includes(number) || number === NO_SUCH_TABLE
      ? storeRefused(reported, error)
      : storeUnavailable(reported, error);
  }
}

/** The number of an error of the server, or 0. Drivers number errors of the network too: below 0, or from 45,000 on. */
function numberOf(error: unknown): number {
  const number = (error as { errno?: unknown } | null | undefined)?.errno;
  return typeof number === "number" && number >= 1000 && number < 10_000 ? number : 0;
}

/** What the client reported. The reason of a signal may be any value. */
const causeOf = (error: unknown): unknown => (error as { cause?: unknown } | null | undefined)?.cause;

/** Leases in the tables `frazil_scopes` and `frazil_leases`. */
export class MySqlStore extends CompareAndSetStore<MySqlScope, LeaseRow> {
  readonly #table: MySqlTable;

  /**
   * Checks what it is given. It runs no statement.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for a client that has no `query`; `INVALID_OPTION`.
   */
  constructor(client: MySqlClient, options: MySqlStoreOptions = {}) {
    const table = new MySqlTable(client, options);
    super(table.name, table);
    this.#table = table;
  }

  /**
   * Makes the tables unless they exist. It runs DDL only, and may run at each start and in several processes at once. The right
   * to create is needed only if a table is missing.
   *
   * @throws {LeaseError} `STORE_REFUSED`, `STORE_UNAVAILABLE`.
   */
  async migrate(): Promise<void> {
    await this.#table.migrate();
  }

  /**
   * Writes the record of a scope, with the fence 0. Call it once for each scope, when the scope is new: never at each start,
   * since an empty store and one that has lost its rows look the same.
   *
   * @throws {ConfigError} `STATE_CONFLICT` if the scope has a record, or rows without one; `INVALID_OPTION`.
   * @throws {LeaseError} `STORE_NOT_INITIALISED`, `STORE_REFUSED`, `STORE_UNAVAILABLE`.
   */
  override async init(options: MySqlInitOptions): Promise<void> {
    const { record, source } = sourceOf(options);
    const found = await this.#table.create(record, source);
    if (found !== undefined) throw alreadyInitialised(record.scope, found === "rows" ? undefined : found.layout);
  }

  /**
   * Ends the time of the move: new node ids do not come from the table of the other generator any more, but follow its largest
   * number. Call it when no process of the other generator runs, and none can start. Holders go on.
   *
   * @throws {ConfigError} `STATE_CONFLICT` if the scope has its own node ids already.
   * @throws {LeaseError} `STORE_NOT_INITIALISED`, `STORE_REFUSED`, `STORE_UNAVAILABLE`.
   */
  async leaveOldTable(options?: { readonly scope?: string }): Promise<void> {
    const scope = fencedScope(options);
    const hasLeft = await this.#table.leave(scope);
    if (hasLeft === undefined) throw notInitialised(this, scope, await this.#table.placeOf(scope, undefined));
    if (!hasLeft)
      throw new ConfigError("STATE_CONFLICT", `scope is "${scope}": ${LEFT_RULE}`, {
        field: "scope",
        value: scope,
        rule: LEFT_RULE,
      });
  }
}

/** Puts the tables and the incarnation into a statement. */
function completion(options: MySqlStoreOptions): (statement: string) => string {
  const { database, incarnation = "server" } = checkGiven(options, "database, incarnation") as MySqlStoreOptions;
  if (database !== undefined && (typeof database !== "string" || !/^[a-z_][\w$-]{0,63}$/i.test(database)))
    throw optionError("database", database, DATABASE_RULE);
  let sql: unknown;
  if (incarnation === "server") sql = IDENTITY;
  else if (incarnation === "none-accepting-repeats-after-failover") sql = "'none'";
  else sql = (incarnation as { sql?: unknown } | null)?.sql;
  // A client would take a question mark for a value of the store.
  if (typeof sql !== "string" || sql.trim() === "" || sql.includes("?"))
    throw optionError("incarnation", incarnation, INCARNATION_RULE);
  const prefix = database === undefined ? "" : `\`${database}\`.`;
  const parts: Record<string, string> = {
    prefix,
    scopes: `${prefix}frazil_scopes`,
    leases: `${prefix}frazil_leases`,
    database: database === undefined ? "DATABASE()" : `'${database}'`,
    incarnation: sql,
    digits: DIGITS,
  };
  return (statement) =>
    statement.replace(
      /\{(prefix|scopes|leases|database|incarnation|digits)\}/g,
      (_, part: string) => parts[part] as string,
    );
}

/**
 * What `migrate` and `init` do, as SQL for people to read and run: the tables, the rights of a user, the record of a scope.
 * `role` is the name of a user, with a host behind an @ or from everywhere.
 *
 * @internal
 */
export function mysqlDdl(options: MySqlInitOptions, store: MySqlStoreOptions, role?: string): string {
  const { record, source } = sourceOf(options);
  const { scope, layout, nodeFrom, nodeTo, windowMaxMs } = record;
  const nodeIdsFrom = sourceText(source);
  const values: Record<string, string | number> = {
    scope: `'${scope}'`,
    layout: `'${layout}'`,
    from: nodeFrom,
    to: nodeTo,
    windowMax: windowMaxMs,
    nodeIdsFrom: nodeIdsFrom === null ? "NULL" : drawnText(nodeIdsFrom),
  };
  const permissions = [...PERMISSIONS];
  let first = ":from";
  let condition = source === "none" ? "1 = 1" : `NOT EXISTS (${OLD_TABLES})`;
  let check = "";
  let none = "this database has a table of UidGenerator or CosId: print this with --node-ids-from";
  if (typeof source === "object") {
    const { oldTable, allowEmpty } = source;
    checkWidth(oldTable, nodeTo);
    for (const [name, value] of Object.entries(oldTable.values)) values[name] = `'${value}'`;
    permissions.push(oldTable.permission);
    const largest = allowEmpty ? `COALESCE(${oldTable.largest}, -1)` : oldTable.largest;
    first = `1 + ${largest}`;
    condition = `${largest} <= :to AND ${oldTable.engine} = 'InnoDB'`;
    check = `${oldTable.check};\n`;
    none = `${oldTable.name} has no row of the fleet, or a number that the layout has no room for, or it is not InnoDB`;
  }
  // Commented out without a role, so that the whole can be passed to a client.
  const rights = permissions.map((right) =>
    role === undefined ? `-- ${right}` : right.replace("your_role", () => accountOf(role)),
  );
  const insert = INSERT_RECORD.replace("{first}", () => first).replace("{condition}", () => condition);
  const text = `-- The tables, once for each database.
${SCOPES};
${LEASES};

-- The rights of the user that your program connects as.
${rights.join("\n")}

-- The record of the scope "${scope}", once, on the primary. It fails if there is one: leave that as it is.
-- The last statement shows it. If it shows none, ${none}; or the scope has rows, whose record was deleted.
${(check + insert).replace(/:([a-z]\w*)/gi, (_, name: string) => `${values[name]}`)}`;
  return completion(store)(text);
}

/** An account: a name, and the hosts that it connects from. */
function accountOf(role: string): string {
  const at = role.lastIndexOf("@");
  const [user, host] = at < 0 ? [role, "%"] : [role.slice(0, at), role.slice(at + 1)];
  const quoted = (name: string) => `\`${name.replaceAll("`", "``")}\``;
  return `${quoted(user)}@${quoted(host)}`;
}
