/** The statements on leases. */

import { REACH } from "../kit/lease/rules.js";
import { FENCE_MARGIN_MS } from "../lease-store.js";
import { MAY_ROLL_BACK, writtenBy } from "./client.js";
import { SEGMENT_TABLE } from "./segments.js";

/**
 * The tables. A lease row is updated at each renewal, and no index has a column that a renewal changes: with free space in
 * its page (`fillfactor`) the update touches no index (a HOT update). The unique index makes a repeated `acquire` that runs
 * beside the first attempt wait for it. `{scopes}` and `{leases}` are the tables.
 */
export const TABLES = `CREATE TABLE IF NOT EXISTS {scopes} (
  scope text PRIMARY KEY,
  layout text NOT NULL,
  node_from bigint NOT NULL,
  node_to bigint NOT NULL,
  next_node bigint NOT NULL, -- rows are made for the node ids below, never again
  window_max_ms bigint NOT NULL,
  fence_ms bigint NOT NULL, -- no window begins before
  incarnation text NOT NULL -- the server that wrote the rows
);
CREATE TABLE IF NOT EXISTS {leases} (
  scope text NOT NULL,
  node bigint NOT NULL,
  from_ms bigint NOT NULL,
  until_ms bigint NOT NULL,
  grant_id text, -- null: released
  nonce text,
  owner text,
  PRIMARY KEY (scope, node)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX IF NOT EXISTS frazil_leases_grant ON {leases} (scope, grant_id);
${SEGMENT_TABLE}`;

/**
 * Makes the tables unless they exist. Two processes that start at once take turns by the lock (its number is `frazil` in
 * ASCII): `IF NOT EXISTS` alone fails when both create. The right to create is needed only if a table is missing.
 */
export const MIGRATE = `DO $frazil$ BEGIN
PERFORM pg_advisory_xact_lock(112555287898476);
IF to_regclass('{scopes}') IS NULL OR to_regclass('{leases}') IS NULL OR to_regclass('{segments}') IS NULL THEN
${TABLES}
END IF;
END $frazil$`;

/**
 * Puts the answer on disk before it is sent, also where a role or the database has turned `synchronous_commit` off: it holds
 * for this transaction only. A stricter setting stays.
 */
export const DURABLE = `CASE WHEN current_setting('synchronous_commit') IN ('on', 'remote_apply') THEN ''
      ELSE set_config('synchronous_commit', 'on', true) END AS durable`;

/**
 * The server's clock in Unix milliseconds, and its incarnation. An incarnation that is null differs from every other: the
 * expression may be one of the user, and ask for a row that a failover lost.
 */
const CLOCK = `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms,
    ({incarnation})::text AS incarnation,
    ${DURABLE}`;

/** The record of the scope $1 for a holder of the layout $2 who asks for a window of $3 ms, and why he may have none. */
const RECORD = `SELECT s.*, c.now_ms, CASE
      WHEN s.layout <> $2::text THEN 'layout'
      WHEN s.window_max_ms < $3::bigint THEN 'window'
      WHEN s.incarnation IS DISTINCT FROM c.incarnation THEN 'incarnation'
    END AS refused
    FROM {scopes} s CROSS JOIN clock c WHERE s.scope = $1::text`;

/** A row of an answer: the lease in `granted`, or else the reason. */
const ANSWER = `c.now_ms, g.node, g.from_ms, g.until_ms, g.written, r.layout, r.window_max_ms`;

/** How many rows are made at a time: 1,024 holders that start at once then wait 64 times for the lock, and not 1,024 times. */
const ROWS = 16;

/**
 * `acquire`. Invariant: a node id is granted from the largest `until` that it ever had, and never before, nor before the
 * fence. Clock: the server's, read once.
 *
 * A row that has the grant with another nonce was renewed since: a clone that repeats its `acquire` is refused.
 *
 * The free row is locked, and its condition is checked again under the lock; a row that another client has locked is not
 * waited for. New rows are made under the lock of the record, from `next_node` on: several, since each lock lasts until the
 * record is on disk, and up to a preferred node id, with all rows before it. The record itself is read in the snapshot of the
 * statement: a fence that is raised meanwhile counts as raised afterwards.
 *
 * $1 scope, $2 layout, $3 window, $4 grant, $5 nonce, $6 owner, $7 preferred node id or null.
 */
export const ACQUIRE = `WITH clock AS MATERIALIZED (${CLOCK}),
record AS MATERIALIZED (${RECORD}),
mine AS MATERIALIZED (
  SELECT l.node, l.from_ms, l.until_ms, l.xmin AS written, l.nonce = $5::text AS retried
  FROM record r JOIN {leases} l ON l.scope = r.scope AND l.grant_id = $4::text
),
allowed AS MATERIALIZED (
  SELECT r.*, CASE WHEN $7::bigint BETWEEN r.next_node AND least(r.node_to, r.next_node + ${REACH - 1}) THEN $7::bigint END AS wanted
  FROM record r WHERE r.refused IS NULL AND r.fence_ms <= r.now_ms AND NOT EXISTS (SELECT FROM mine)
),
free AS MATERIALIZED (
  SELECT l.node, greatest(l.until_ms, a.fence_ms) AS from_ms, a.now_ms
  FROM allowed a JOIN {leases} l ON l.scope = a.scope
  WHERE a.wanted IS NULL AND l.until_ms <= a.now_ms
  ORDER BY l.node IS DISTINCT FROM $7::bigint, l.until_ms, l.node
  LIMIT 1 FOR UPDATE OF l SKIP LOCKED
),
taken AS (
  UPDATE {leases} l
  SET from_ms = f.from_ms, until_ms = f.now_ms + $3::bigint, grant_id = $4::text, nonce = $5::text, owner = $6::text
  FROM free f WHERE l.scope = $1::text AND l.node = f.node
  RETURNING l.node, l.from_ms, l.until_ms, l.xmin AS written
),
grown AS (
  UPDATE {scopes} s SET next_node = greatest(s.next_node, a.wanted) + ${ROWS}
  FROM allowed a
  WHERE s.scope = a.scope AND s.next_node <= s.node_to AND s.fence_ms <= a.now_ms AND NOT EXISTS (SELECT FROM taken)
  RETURNING s.next_node - ${ROWS} AS node, s.fence_ms AS from_ms, a.now_ms, a.next_node AS seen,
    least(s.next_node - 1, s.node_to) AS last, s.xmin AS written
),
made AS (
  INSERT INTO {leases} (scope, node, from_ms, until_ms, grant_id, nonce, owner)
  SELECT $1::text, w.node, w.from_ms, w.now_ms + $3::bigint, $4::text, $5::text, $6::text FROM grown w
  RETURNING node, from_ms, until_ms
),
spare AS (
  INSERT INTO {leases} (scope, node, from_ms, until_ms)
  SELECT $1::text, n, 0, 0 FROM grown w CROSS JOIN generate_series(w.seen, w.last) n WHERE n <> w.node
  ON CONFLICT (scope, node) DO NOTHING
),
granted AS (
  SELECT node, from_ms, until_ms, written FROM mine WHERE retried UNION ALL SELECT * FROM taken
  UNION ALL SELECT m.*, w.written FROM made m CROSS JOIN grown w
),
answer AS MATERIALIZED (
  SELECT ${ANSWER}, r.scope, r.refused, r.fence_ms,
    CASE WHEN g.node IS NOT NULL OR r.refused IS NOT NULL THEN NULL
      WHEN r.next_node <= r.node_to THEN 0
      ELSE (SELECT min(l.until_ms) FROM {leases} l WHERE l.scope = r.scope)
    END AS unfenced_ms
  FROM clock c LEFT JOIN record r ON true LEFT JOIN granted g ON true
)
SELECT now_ms, node, from_ms, until_ms, layout, window_max_ms,
  CASE WHEN node IS NOT NULL THEN NULL
    WHEN scope IS NULL THEN 'missing'
    WHEN EXISTS (SELECT FROM mine) THEN 'taken'
    WHEN refused IS NOT NULL THEN refused
    WHEN fence_ms > now_ms AND unfenced_ms <= now_ms THEN 'fenced'
    ELSE 'exhausted'
  END AS reason,
  CASE WHEN node IS NULL AND scope IS NOT NULL AND refused IS NULL AND NOT EXISTS (SELECT FROM mine)
    THEN greatest(now_ms, fence_ms, unfenced_ms)
  END AS free_at_ms,
  ${writtenBy("written")}
FROM answer`;

/**
 * `renew`. Invariant: a compare-and-set on `until`, which only moves forward; of two holders that know the grant, one finds
 * a nonce that it does not know. Clock: the server's, read once.
 *
 * The reason comes from the snapshot of the statement. If the row changed between that and the update, the update has failed
 * for another renewal, acquisition or release, and `taken` is right.
 *
 * $1 scope, $2 layout, $3 window, $4 grant, $5 nonce, $6 node id, $7 the end of the window that the holder knows.
 */
export const RENEW = `WITH clock AS MATERIALIZED (${CLOCK}),
record AS MATERIALIZED (${RECORD}),
seen AS MATERIALIZED (SELECT l.until_ms FROM {leases} l WHERE l.scope = $1::text AND l.node = $6::bigint),
renewed AS (
  UPDATE {leases} l SET until_ms = greatest(l.until_ms, $7::bigint, r.now_ms + $3::bigint), nonce = $5::text
  FROM record r
  WHERE r.refused IS NULL AND l.scope = r.scope AND l.node = $6::bigint AND l.grant_id = $4::text
    AND (l.until_ms <= $7::bigint OR l.nonce = $5::text)
    AND $7::bigint + r.window_max_ms > r.fence_ms
    AND (l.until_ms >= $7::bigint OR r.fence_ms >= r.now_ms + r.window_max_ms)
  RETURNING l.node, l.from_ms, l.until_ms, l.xmin AS written
)
SELECT ${ANSWER}, NULL::bigint AS free_at_ms, ${writtenBy("g.written")},
  CASE WHEN g.node IS NOT NULL THEN NULL
    WHEN r.scope IS NULL THEN 'missing'
    WHEN r.refused IS NOT NULL THEN r.refused
    WHEN coalesce(o.until_ms < $7::bigint, true) AND r.fence_ms < c.now_ms + r.window_max_ms THEN 'behind'
    WHEN $7::bigint + r.window_max_ms <= r.fence_ms THEN 'fenced'
    ELSE 'taken'
  END AS reason
FROM clock c LEFT JOIN record r ON true LEFT JOIN renewed g ON true LEFT JOIN seen o ON true`;

/**
 * `release`. Invariant: `until` covers every ID that was minted, since the holder closed before; without the grant, a late
 * renewal fails; a row that a clone of the holder has renewed stays. No clock.
 *
 * $1 scope, $2 grant, $3 node id, $4 from when it is free, $5 the end of the window that the holder knows.
 */
export const RELEASE = `WITH settings AS MATERIALIZED (SELECT ${DURABLE})
UPDATE {leases} l SET until_ms = greatest(l.from_ms, $4::bigint), grant_id = NULL, owner = NULL
FROM settings
WHERE l.scope = $1::text AND l.node = $3::bigint AND l.grant_id = $2::text AND l.until_ms <= $5::bigint
RETURNING l.node, ${writtenBy("l.xmin")}`;

/**
 * `ensure` and `fence`. Invariant: the fence only grows, and lies beyond every window that the rows may have lost. Clock:
 * the server's, read once.
 *
 * $1 scope; $2 when to raise the fence besides: `behind` if it does not cover the longest window, `always`, or `changed`. It is
 * a text, since the client `postgres` turns the text of a boolean into false.
 */
export const ENSURE = `WITH clock AS MATERIALIZED (${CLOCK}),
raised AS (
  UPDATE {scopes} s
  SET incarnation = c.incarnation, fence_ms = greatest(s.fence_ms, c.now_ms + s.window_max_ms + ${FENCE_MARGIN_MS})
  FROM clock c
  WHERE s.scope = $1::text
    AND (s.incarnation IS DISTINCT FROM c.incarnation OR $2::text = 'always'
      OR ($2::text = 'behind' AND s.fence_ms < c.now_ms + s.window_max_ms))
  RETURNING s.fence_ms, s.xmin AS written
)
SELECT s.scope, coalesce(f.fence_ms, s.fence_ms) AS fence_ms,
  (f.fence_ms >= c.now_ms + s.window_max_ms + ${FENCE_MARGIN_MS})::text AS covers, ${writtenBy("f.written")}
FROM {scopes} s CROSS JOIN clock c LEFT JOIN raised f ON true WHERE s.scope = $1::text`;

/**
 * `init`. Invariant: a record is written once, and never for a scope whose rows are still there. No clock: the fence is 0.
 *
 * $1 scope, $2 layout, $3 and $4 the first and the last node id, $5 the longest window.
 */
export const INIT = `WITH clock AS MATERIALIZED (${CLOCK}),
made AS (
  INSERT INTO {scopes} (scope, layout, node_from, node_to, next_node, window_max_ms, fence_ms, incarnation)
  SELECT $1::text, $2::text, $3::bigint, $4::bigint, $3::bigint, $5::bigint, 0, c.incarnation
  FROM clock c WHERE NOT EXISTS (SELECT FROM {leases} l WHERE l.scope = $1::text)
  ON CONFLICT (scope) DO NOTHING
  RETURNING scope
)
SELECT (SELECT count(*) FROM made) AS made, s.layout, s.node_from, s.node_to, ${MAY_ROLL_BACK}
FROM clock c LEFT JOIN {scopes} s ON s.scope = $1::text`;

/** The record of `INIT` for people to run. It fails if the scope has one. */
export const INSERT_RECORD = `INSERT INTO {scopes} (scope, layout, node_from, node_to, next_node, window_max_ms, fence_ms, incarnation)
VALUES ($1, $2, $3, $4, $3, $5, 0, ({incarnation})::text);
`;

/**
 * The incarnation of a server: the number that `initdb` drew, and the timeline, which a promotion changes. Both are current.
 * `pg_control_checkpoint()` still has the old timeline after a promotion, until the next checkpoint.
 */
export const SERVER = `SELECT (SELECT system_identifier FROM pg_control_system())::text || '/' ||
      substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`;

/**
 * What a table has and its copy lacks: the OIDs of its database and its own. A dump that is loaded and a database that is cloned have
 * others; TRUNCATE, VACUUM FULL and an update of the server keep them.
 */
export const tableIn = (
  prefix: string,
) => ` || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())::text ||
      '/' || to_regclass('${prefix}frazil_scopes')::oid::text`;

/**
 * Adds nothing, or fails the statement with 22P02 if a table is a view or a foreign table, or has a part that is one: the incarnation of
 * this server says nothing of another. The message is the text that cannot be cast, since only functions raise their own errors.
 */
export const localTables = (prefix: string, tables: readonly string[]) => ` || (
      SELECT coalesce(max((oid::regclass::text ||
        ' is a foreign table or a view, or has a part that is one')::int)::text, '')
      FROM pg_class
      WHERE oid IN (${tables.map((table) => `to_regclass('${prefix}frazil_${table}')`).join(", ")})
        AND (relkind NOT IN ('r', 'p') OR relhassubclass AND EXISTS (
          WITH RECURSIVE part AS (SELECT pg_class.oid AS part UNION SELECT inhrelid FROM pg_inherits JOIN part ON inhparent = part)
          SELECT FROM pg_foreign_table JOIN part ON ftrelid = part))
    )`;
