/**
 * The tables and the statements of the store in MariaDB and MySQL. Each stands whole, with the invariant that it keeps and whose clock it
 * uses. A `:name` is a value; a `{name}` is put in by `completion`, and one about an old table by `withOldTable`.
 */
import { FENCE_MARGIN_MS } from "../lease-store.js";

/**
 * The tables. Every write counts `writes` up: without that, a retry that sets what is there already would change no row, be
 * reported like a failed comparison, and be written to no log. `{scopes}` and `{leases}` are the tables.
 */
export const SCOPES = `CREATE TABLE IF NOT EXISTS {scopes} (
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
export const LEASES = `CREATE TABLE IF NOT EXISTS {leases} (
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
 * The counters of segments. `writes` as above. The tag is UTF-8 as bytes: every collation that both MariaDB and MySQL have takes texts
 * that differ in blanks at their end for equal.
 */
export const SEGMENTS = `CREATE TABLE IF NOT EXISTS {segments} (
  tag varbinary(384) NOT NULL, -- three bytes for each of 128 UTF-16 units
  next_number bigint NOT NULL, -- numbers below are allocated
  recent text CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- the last allocation of each process, which its retry gets again
  incarnation text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- the server that wrote the row
  writes bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tag)
) ENGINE = InnoDB`;

/** The bytes of a value that is sent as hexadecimal digits. These have two or four bytes each where the connection collates in UTF-16. */
const bytesOf = (name: string): string => `UNHEX(CONVERT(:${name} USING ascii))`;

/**
 * The incarnation of this server, as hexadecimal digits: compared so, no collation takes two values for equal. A comment that
 * begins with `/*!50700` is a part of the statement in MySQL, one with `/*M!` in MariaDB.
 */
const INCARNATION = "HEX(CONVERT(({incarnation}) USING utf8mb4))";

/** The settings with which a server or a session may lose, or take back, what it acknowledged. */
export const SETTINGS = `@@session.autocommit AS autocommit, /*M! @@in_transaction */ /*!50700 0 */ AS in_transaction,
  @@global.innodb_flush_log_at_trx_commit AS flush_log, @@global.log_bin AS log_bin, @@global.sync_binlog AS sync_binlog,
  @@session.binlog_format AS binlog_format, @@global.read_only AS read_only,
  /*M! @@global.wsrep_on */ /*!50700 0 */ AS galera`;

/** What exists of the tables. */
export const EXISTING = `SELECT ${SETTINGS}, t.table_name AS name, t.engine AS engine
FROM (SELECT 1 AS one) o LEFT JOIN information_schema.tables t
  ON t.table_schema = {database} AND t.table_name IN ('frazil_scopes', 'frazil_leases', 'frazil_segments') LIMIT 3`;

/** How many of some tables there are. */
export const COUNT_TABLES = `SELECT COUNT(*) AS found FROM information_schema.tables
WHERE table_schema = {database} AND table_name IN ({names})`;

/**
 * The server at this moment: its clock in Unix milliseconds, its incarnation, its settings.
 *
 * `UTC_TIMESTAMP` is the start of the statement. `SET timestamp` moves it, as it does `NOW`, and not `SYSDATE`: `moved_us` tells.
 * `UNIX_TIMESTAMP(NOW(6))` is an hour wrong when the summer ends, since local time comes twice then. The time in `UUID()` is the server's
 * start plus a monotonic clock, which MariaDB never corrects.
 */
const NOW_MS = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) DIV 1000";
const MOVED = "TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6))";
const SERVER = `${NOW_MS} AS now_ms, ${MOVED} AS moved_us, ${INCARNATION} AS incarnation, ${SETTINGS}`;

/** The record of a scope as it is read. */
const RECORD = `s.scope AS scope, s.layout AS layout, s.node_from AS node_from, s.node_to AS node_to, s.next_node AS next_node,
  s.window_max_ms AS window_max_ms, s.fence_ms AS fence_ms, HEX(s.incarnation) AS recorded,
  s.node_ids_from AS node_ids_from`;
/** `{ours:k}`: whether the node id of the row is ours in the old table that the scope takes node ids from; 1 without one. */
const COLUMNS = "node, from_ms, until_ms, grant_id, nonce, {ours:k} AS is_ours";
const ROW = "l.node AS node, l.from_ms AS from_ms, l.until_ms AS until_ms, l.grant_id AS grant_id, l.nonce AS nonce";

/** The record, and the server, also without one. One statement is one snapshot at every isolation level. */
export const READ_SCOPE = `SELECT ${SERVER}, ${RECORD}
FROM (SELECT 1 AS one) o LEFT JOIN {scopes} s ON s.scope = :scope LIMIT 1`;

/** The record and the row of a node id. */
export const READ_ROW = `SELECT ${SERVER}, ${RECORD}, ${ROW}, {ours:l} AS is_ours
FROM (SELECT 1 AS one) o LEFT JOIN {scopes} s ON s.scope = :scope
  LEFT JOIN {leases} l ON l.scope = s.scope AND l.node = :node LIMIT 1`;

/** The number of rows with the oldest end that are read. */
const OLDEST = 64;

/**
 * The record; the row of a grant; the preferred row; the rows with the oldest end. Rows from `next_node` on are in the making, and have no
 * holder. The rows come in any order: sorting them with the texts of the record would take a table on disk. `{largest}`: the largest number
 * of the old table.
 */
export const READ_FOR_ACQUIRE = `SELECT ${SERVER}, ${RECORD}, {largest} AS largest, l.kind AS kind, ${ROW}, l.is_ours AS is_ours
FROM (SELECT 1 AS one) o LEFT JOIN {scopes} s ON s.scope = :scope LEFT JOIN (
  (SELECT 1 AS kind, ${COLUMNS} FROM {leases} k WHERE scope = :scope AND grant_id = :grant)
  UNION ALL (SELECT 2, ${COLUMNS} FROM {leases} k WHERE scope = :scope AND node = :node AND {ours:k})
  UNION ALL (SELECT 3, ${COLUMNS} FROM {leases} k
    WHERE scope = :scope AND node < (SELECT next_node FROM {scopes} WHERE scope = :scope) AND {ours:k}
    ORDER BY until_ms, node LIMIT ${OLDEST})
) l ON l.node < s.next_node LIMIT ${OLDEST + 2}`;

/** Whether the row is as it was read. Its nonce is drawn for each attempt, so an equal row is unchanged. */
const SAME_ROW = `l.scope = :scope AND l.node = :node AND l.until_ms = :seenUntil AND l.grant_id <=> :seenGrant
    AND l.nonce <=> :seenNonce`;

/** Whether the write lasts: a transaction of the program may have begun since the read, on a connection that it shares. */
export const COMMITS = "@@session.autocommit = 1 AND /*M! @@in_transaction */ /*!50700 0 */ = 0";

/** Whether this is the server that was read, and the write lasts. */
const SAME_SERVER = `${INCARNATION} <=> :server AND ${COMMITS}`;

/**
 * `acquire`, `renew` and `release`. Invariant: a row is replaced only if it, the fence and the incarnations are those of the decision; a
 * failover between the read and this statement changes the last. Clock: that of the read, so that a statement that comes late grants a
 * window that ends early.
 */
export const REPLACE_ROW = `UPDATE {leases} l JOIN {scopes} s ON s.scope = l.scope
  SET l.from_ms = :from, l.until_ms = :until, l.grant_id = :grant, l.nonce = :nonce,
    l.owner = IF(:isOwnerKept, l.owner, CONVERT(${bytesOf("owner")} USING utf8mb4)), l.writes = l.writes + 1
  WHERE ${SAME_ROW} AND {ours:l}
    AND s.fence_ms = :fence AND HEX(s.incarnation) <=> :recorded AND ${SAME_SERVER}`;

/**
 * A lease that is answered once more. Other clients see a commit of InnoDB before it is on disk: what a retry has read could be
 * lost after it was answered. This write puts it there.
 */
export const KEEP_ROW = `UPDATE {leases} l SET l.writes = l.writes + 1 WHERE ${SAME_ROW} AND {ours:l} AND ${COMMITS}`;

/**
 * Makes rows that were never granted, from `next_node` on. The lock on the record keeps a late statement from making a row that
 * was granted and deleted since. Rows of an attempt that ended before `RAISE_MARK` are there already.
 */
export const MAKE_ROWS = `INSERT IGNORE INTO {leases} (scope, node, from_ms, until_ms)
  SELECT s.scope, s.next_node + a.d + 16 * b.d + 256 * c.d, 0, 0
  FROM {scopes} s JOIN {digits} a JOIN {digits} b JOIN {digits} c
  WHERE s.scope = :scope AND s.next_node = :next AND s.next_node + a.d + 16 * b.d + 256 * c.d <= :last
  LOCK IN SHARE MODE`;
export const DIGITS = `(SELECT 0 AS d ${Array.from({ length: 15 }, (_, at) => `UNION ALL SELECT ${at + 1}`).join(" ")})`;

/** So long after its read a fence may be written. The margin of a fence is five times that. */
const LATE_MS = 1000;

/** Rows below the mark can be granted. Invariant: it only grows, and only where the rows are: a failover may have lost them. */
export const RAISE_MARK = `UPDATE {scopes} s SET s.next_node = :last + 1, s.writes = s.writes + 1
  WHERE s.scope = :scope AND s.next_node = :next
    AND EXISTS (SELECT 1 FROM {leases} l WHERE l.scope = :scope AND l.node = :last)`;

/**
 * Makes rows for numbers that are ours in an old table, instead of `MAKE_ROWS`. Their first window begins now, and not at 0, since the old
 * table may have been emptied once: its generator then had these numbers before.
 */
export const TAKE_OVER = `INSERT IGNORE INTO {leases} (scope, node, from_ms, until_ms)
  SELECT s.scope, n.node, :now, :now FROM {scopes} s JOIN ({numbers}) n
  WHERE s.scope = :scope AND s.next_node = :next LOCK IN SHARE MODE`;

/** Numbers that are not ours any more: the other generator may have had them since, and it may have minted ahead of the time. */
const NOT_OURS = "l.scope = :scope AND l.until_ms < :never AND NOT ({ours:l})";
export const RETIRE = `UPDATE {leases} l SET l.until_ms = :never, l.grant_id = NULL, l.writes = l.writes + 1 WHERE ${NOT_OURS}`;

/**
 * `leaveOldTable`, behind `RETIRE`. Invariant: the mark is beyond every number of the old table, and no number is granted that was
 * not ours at the end. No other row of a lease changes.
 */
export const LEAVE = `UPDATE {scopes} s
  SET s.next_node = GREATEST(s.next_node, 1 + COALESCE({largest}, -1)), s.node_ids_from = NULL, s.writes = s.writes + 1
  WHERE s.scope = :scope AND HEX(s.node_ids_from) = :from AND NOT EXISTS (SELECT 1 FROM {leases} l WHERE ${NOT_OURS})`;

/**
 * `ensure` and `fence`. Invariant: the fence is raised from the one that the decision was based on, on that server, and at once. The read
 * may have been of a replica that was promoted since, and a fence that counts from before would not cover what the primary granted
 * meanwhile. Clock: that of the read, and at the moment of the write at most `LATE_MS` more.
 */
export const REPLACE_SCOPE = `UPDATE {scopes} s
  SET s.fence_ms = :raised, s.incarnation = CONVERT(${bytesOf("incarnation")} USING utf8mb4), s.writes = s.writes + 1
  WHERE s.scope = :scope AND s.fence_ms = :fence AND HEX(s.incarnation) <=> :recorded AND ${SAME_SERVER}
    AND ${NOW_MS} + GREATEST(0, ${MOVED}) DIV 1000 <= :now + ${LATE_MS}`;

/**
 * `fence` for people to run. Outside of a procedure only a statement that cannot be read fails with a text, in MariaDB and MySQL.
 * Committed, as the other statements for them, since a session need not do that by itself.
 */
export const RAISE_FENCE = `UPDATE {scopes} SET incarnation = CONVERT(({incarnation}) USING utf8mb4), writes = writes + 1,
  fence_ms = GREATEST(fence_ms, ${NOW_MS} + window_max_ms + ${FENCE_MARGIN_MS})
WHERE scope = :scope;
-- Fails where there is no such scope:
SET @frazil = IF(EXISTS (SELECT 1 FROM {scopes} WHERE scope = :scope), 'DO 0', CONCAT('this database has no scope "', :scope, '"'));
PREPARE frazil FROM @frazil;
EXECUTE frazil;
COMMIT;
SELECT scope, TIMESTAMP('1970-01-01') + INTERVAL fence_ms * 1000 MICROSECOND AS nothing_is_granted_before_utc FROM {scopes} ORDER BY scope;
`;

/** `init`. Invariant: a record is written once, and never for a scope whose rows are still there. No clock: the fence is 0. */
export const INIT = `INSERT INTO {scopes}
    (scope, layout, node_from, node_to, next_node, window_max_ms, fence_ms, incarnation, node_ids_from)
  SELECT :scope, CONVERT(${bytesOf("layout")} USING utf8mb4), :from, :to, :next, :windowMax, 0,
    CONVERT(${bytesOf("server")} USING utf8mb4), CONVERT(${bytesOf("nodeIdsFrom")} USING utf8mb4)
  FROM (SELECT 1 AS one) o
  WHERE ${SAME_SERVER} AND NOT EXISTS (SELECT 1 FROM {leases} WHERE scope = :scope)`;

/** Whether a scope has rows. */
export const ANY_ROW = "SELECT l.node AS node FROM {leases} l WHERE l.scope = :scope LIMIT 1";

/** The tables of UidGenerator and CosId in the database of the store. */
export const OLD_TABLES = `SELECT DISTINCT c.table_name AS name FROM information_schema.columns c
  WHERE c.table_schema = {database}
    AND (LOWER(c.table_name), LOWER(c.column_name)) IN (('worker_node', 'launch_date'), ('cosid_machine', 'machine_id'))`;

/**
 * The record of `INIT` for people to run. It fails if the scope has one, and writes none if the scope has rows without one.
 * `{first}`: the first new node id. `{condition}`: what `init` checks; without it there is no record, and programs say that the
 * scope has none.
 */
export const INSERT_RECORD = `INSERT INTO {scopes}
  (scope, layout, node_from, node_to, next_node, window_max_ms, fence_ms, incarnation, node_ids_from)
SELECT :scope, :layout, :from, :to, {first}, :windowMax, 0, CONVERT(({incarnation}) USING utf8mb4), :nodeIdsFrom
FROM (SELECT 1 AS one) o
WHERE {condition} AND (EXISTS (SELECT 1 FROM {scopes} WHERE scope = :scope)
  OR NOT EXISTS (SELECT 1 FROM {leases} WHERE scope = :scope));
COMMIT;
SELECT scope, layout, next_node, node_to, node_ids_from FROM {scopes} WHERE scope = :scope;
`;

/** The record of a tag, as SQL for people to read and run. */
export const INSERT_TAG = `INSERT INTO {segments} (tag, next_number, recent, incarnation)
SELECT :tag, :first, '[]', CONVERT(({incarnation}) USING utf8mb4) FROM (SELECT 1 AS one) o
WHERE NOT EXISTS (SELECT 1 FROM {segments} t WHERE t.tag = CAST(:tag AS BINARY));
COMMIT;
`;

/**
 * The incarnation of a server. MySQL draws `server_uuid` for each data folder. MariaDB has nothing like it: servers that
 * replicate from each other must differ in `server_id`, and the rest tells those apart that do not.
 */
export const IDENTITY =
  "/*!50700 @@global.server_uuid */ /*M! CONCAT_WS('/', @@global.server_id, @@global.hostname, @@global.port) */";

/**
 * The server, and when the table of scopes was made: a dump that is loaded makes it anew. As a number of UTC, whatever the time zone of
 * the session is. MariaDB takes the time at which its file was made or copied.
 */
export const TABLE_IDENTITY = `CONCAT_WS('/', ${IDENTITY}, (SELECT UNIX_TIMESTAMP(i.create_time) FROM information_schema.tables i
    WHERE i.table_schema = {database} AND i.table_name = 'frazil_scopes'))`;

/** Where the tables are, for errors. */
export const PLACE = "SELECT {database} AS name";

const TAG = `t.tag = ${bytesOf("tag")}`;

/** What `checkCounter` looks at: the engine of a table, which a view has not, and the type of its column. */
export const counterFacts = (
  table: string,
  column: string,
): string => `(SELECT i.engine FROM information_schema.tables i
    WHERE i.table_schema = {database} AND i.table_name = '${table}') AS engine,
  (SELECT i.data_type FROM information_schema.columns i
    WHERE i.table_schema = {database} AND i.table_name = '${table}' AND i.column_name = '${column}') AS counter_type`;

/**
 * The record of a tag, and the server, also without one. Its number as digits: a client may return a number of 53 bits. `recent` as
 * hexadecimal digits here and below, since with NO_BACKSLASH_ESCAPES clients write backslashes before its quotes.
 */
export const READ_TAG = `SELECT ${SERVER}, ${counterFacts("frazil_segments", "next_number")}, t.tag AS tag, CAST(t.next_number AS CHAR) AS next_number, HEX(t.recent) AS recent,
  HEX(t.incarnation) AS recorded FROM (SELECT 1 AS one) o LEFT JOIN {segments} t ON ${TAG} LIMIT 1`;

/**
 * `allocate`. Invariant: the record is replaced only as it was read, and only by the server that it was decided for
 * (`TagTable.replaceTag` has the reason). Numbers are cast, since a comparison with digits is one of floating-point numbers.
 */
export const REPLACE_TAG = `UPDATE {segments} t
  SET t.next_number = CAST(:next AS SIGNED), t.recent = CONVERT(${bytesOf("recent")} USING ascii),
    t.incarnation = CONVERT(${bytesOf("server")} USING utf8mb4), t.writes = t.writes + 1
  WHERE ${TAG} AND t.next_number = CAST(:seenNext AS SIGNED) AND HEX(t.recent) = :seenRecent
    AND HEX(t.incarnation) = :recorded AND ${SAME_SERVER}`;

/** `initSegment`. A record that is there stays. */
export const MAKE_TAG = `INSERT INTO {segments} (tag, next_number, recent, incarnation)
  SELECT ${bytesOf("tag")}, CAST(:first AS SIGNED), '[]', CONVERT(${bytesOf("server")} USING utf8mb4)
  FROM (SELECT 1 AS one) o
  WHERE ${SAME_SERVER} AND NOT EXISTS (SELECT 1 FROM {segments} t WHERE ${TAG})`;
