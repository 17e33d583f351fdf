/**
 * Leases and segments in Postgres: one row for each node id and each tag, written by statements that are atomic by themselves.
 *
 * ```js
 * import { PostgresStore } from "frazil/stores/postgres";
 *
 * const store = new PostgresStore(new pg.Pool());
 * await store.migrate(); // tables; may run at each start
 * await store.init({ layout: "default" }); // once for each scope, by hand or in a migration
 * ```
 *
 * - **One statement for each operation**, so that poolers in transaction mode work, and nothing is left open when the connection
 *   breaks. Nothing is prepared by name. A client that does not show transactions is asked once more.
 * - **The clock is that of the server**, `clock_timestamp()`. `now()` is the start of the transaction: with it a statement
 *   that waited for a lock, or runs in a transaction of the caller, would lie in the past.
 * - **Every isolation level**: a statement that Postgres could not serialise is repeated.
 * - **A grant is on disk before it is answered**, even if `synchronous_commit` is off for the role.
 *
 * A statement that the driver does not wait for any more keeps its connection until the server has answered it: while the
 * tables are locked, each attempt takes one more from the pool. Give the store a pool of its own with time limits:
 * `new pg.Pool({ max: 2, statement_timeout: 3000, connectionTimeoutMillis: 3000 })`.
 *
 * - **A client inside a transaction of yours is refused**, whose rollback takes back what was handed out: give the store a pool, or a
 *   client of its own. Only `migrate`, `init` and `initSegment` may run in one. One of a pool that your program released so is replaced.
 *
 * Not checked: `fsync = off` of the server.
 */
import { FrazilError, type LeaseError } from "../errors.js";
import {
  type AnswerRow,
  answerOf,
  isLostRace,
  isNew,
  MAX_ATTEMPTS,
  NO_INCARNATION,
  notInitialised,
  pause,
  storeRefused,
  storeUnavailable,
  TRANSACTION_RULE,
  untilAborted,
  type Whole,
  wholeOf,
} from "./answers.js";
import { checkGiven, optionError } from "./given.js";
import { PERMISSIONS, rightsFor } from "./permissions.js";
import {
  FAILED_TRANSACTION,
  isTransaction,
  MAY_ROLL_BACK,
  type PostgresClient,
  type Query,
  queryOf,
  type Row,
  STARTED,
  stateOf,
  waitOf,
  writtenBy,
} from "./postgres-client.js";
import { PostgresTags, SEGMENT_TABLE, tagRecords } from "./postgres-segments.js";
import {
  checkAcquire,
  checkEnsure,
  checkRelease,
  checkRenew,
  fencedScope,
  recordOf,
  type ScopeRecord,
} from "./requests.js";
import { REACH } from "./rules.js";
import type { DdlTags } from "./segment-requests.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "./segment-store.js";
import { withinLimit } from "./set-up-limit.js";
import {
  type AcquireRequest,
  type Answer,
  type EnsureRequest,
  FENCE_MARGIN_MS,
  type InitOptions,
  type ManagedStore,
  type ReleaseRequest,
  type RenewRequest,
} from "./store.js";
import { allocateFrom, makeTagIn } from "./tag-table.js";

export type { PostgresClient, QueryClient, UnsafeClient } from "./postgres-client.js";
export type * from "./segment-store.js";
export type * from "./store.js";

/**
 * The tables. A lease row is updated at each renewal, and no index has a column that a renewal changes: with free space in
 * its page (`fillfactor`) the update touches no index (a HOT update). The unique index makes a repeated `acquire` that runs
 * beside the first attempt wait for it. `{scopes}` and `{leases}` are the tables.
 */
const TABLES = `CREATE TABLE IF NOT EXISTS {scopes} (
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
const MIGRATE = `DO $frazil$ BEGIN
PERFORM pg_advisory_xact_lock(112555287898476);
IF to_regclass('{scopes}') IS NULL OR to_regclass('{leases}') IS NULL OR to_regclass('{segments}') IS NULL THEN
${TABLES}
END IF;
END $frazil$`;

/**
 * Puts the answer on disk before it is sent, also where a role or the database has turned `synchronous_commit` off: it holds
 * for this transaction only. A stricter setting stays.
 */
const DURABLE = `CASE WHEN current_setting('synchronous_commit') IN ('on', 'remote_apply') THEN ''
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
const ACQUIRE = `WITH clock AS MATERIALIZED (${CLOCK}),
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
const RENEW = `WITH clock AS MATERIALIZED (${CLOCK}),
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
const RELEASE = `WITH settings AS MATERIALIZED (SELECT ${DURABLE})
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
const ENSURE = `WITH clock AS MATERIALIZED (${CLOCK}),
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
const INIT = `WITH clock AS MATERIALIZED (${CLOCK}),
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
const INSERT_RECORD = `INSERT INTO {scopes} (scope, layout, node_from, node_to, next_node, window_max_ms, fence_ms, incarnation)
VALUES ($1, $2, $3, $4, $3, $5, 0, ({incarnation})::text);
`;

/**
 * The incarnation of a server: the number that `initdb` drew, and the timeline, which a promotion changes. Both are those of
 * the moment. `pg_control_checkpoint()` still has the old timeline after a promotion, until the next checkpoint.
 */
const SERVER = `SELECT (SELECT system_identifier FROM pg_control_system())::text || '/' ||
      substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`;

/**
 * What a table has and its copy lacks: the OIDs of its database and its own. A dump that is loaded and a database that is cloned have
 * others; TRUNCATE, VACUUM FULL and an update of the server keep them.
 */
const tableIn = (
  prefix: string,
) => ` || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())::text ||
      '/' || to_regclass('${prefix}frazil_scopes')::oid::text`;

/** The options of a `PostgresStore`. */
export interface PostgresStoreOptions {
  /** The schema of the tables. Default: the search path of the connection. */
  readonly schema?: string;
  /**
   * How a server is told from the one that replaced it after a failover.
   *
   * - `"postgres"` (default): the system identifier, the timeline, and the OIDs of the database and of the table of scopes. Segments: the
   *   first two.
   * - `"postgres-with-start"`: besides, when the server was started. An old primary that is started again, or a copy of its folder, is
   *   then another one; and each restart raises a fence.
   * - `{ sql }`: an SQL expression of your own, whose value changes whenever acknowledged writes may have been lost.
   * - `"none-accepting-repeats-after-failover"`: not at all. If a standby is promoted that lacks the last writes, IDs repeat.
   */
  readonly incarnation?:
    | "postgres"
    | "postgres-with-start"
    | { readonly sql: string }
    | "none-accepting-repeats-after-failover";
}

/**
 * Where the tables are, for errors. It has a value ($1), since the client `postgres` sends a statement without one by the simple
 * protocol, and waits for ever behind pgbouncer when that meets statements of the other one.
 */
const PLACE = `SELECT $1::text AS asked, current_database() AS database, current_setting('search_path') AS path,
  (SELECT n.nspname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.oid = to_regclass('{table}')) AS schema, ${MAY_ROLL_BACK}`;

const SCHEMA_RULE = "must be the name of a schema: a letter or _, then at most 62 letters, digits, _, $ or -";
const INCARNATION_RULE =
  'must be "postgres", "postgres-with-start", { sql } with an SQL expression, or "none-accepting-repeats-after-failover"';

/** The SQLSTATEs after which a statement is repeated: it certainly did not take place, and can succeed now. */
const CONFLICTS = [
  "40001", // serialization_failure
  "40P01", // deadlock_detected
  "23505", // unique_violation: an earlier attempt with this grant has just ended
];
const NO_SCHEMA = "3F000";
const NO_TABLE = "42P01";
const NOT_IN_STATE = "55000";
/** What a server lacks: it takes no writes, or cannot say which incarnation it is. */
type Lack = "writes" | "incarnation" | undefined;
/** Of a server that is asked what it does not know, such as the expression of the incarnation. */
const UNKNOWN_FUNCTION = ["42883", "0A000", NOT_IN_STATE];

/** Leases in the tables `frazil_scopes` and `frazil_leases`, and segments in `frazil_segments`. */
export class PostgresStore implements ManagedStore, ManagedSegmentStore {
  readonly name = "postgres";
  readonly #client: PostgresClient;
  readonly #query: Query;
  readonly #complete: (statement: string) => string;
  readonly #tags = new PostgresTags(
    (...given) => this.#run(...given),
    (signal) => this.#place(signal, "segments"),
  );

  /**
   * Checks what it is given. It runs no statement.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for a client that has no `query`; `INVALID_OPTION`.
   */
  constructor(client: PostgresClient, options: PostgresStoreOptions = {}) {
    this.#query = queryOf(client);
    this.#client = client;
    this.#complete = completion(options);
  }

  waitsFor(): string | undefined {
    return waitOf(this.#client);
  }

  async acquire(request: AcquireRequest): Promise<Answer> {
    checkAcquire(request);
    const { scope, layout, windowMs, grant, nonce, owner, node, signal } = request;
    const values = [scope, layout, windowMs, grant, nonce, owner, node ?? null];
    return this.#answer(ACQUIRE, values, request.grant, signal);
  }

  async renew(request: RenewRequest): Promise<Answer> {
    checkRenew(request);
    const { scope, layout, windowMs, grant, nonce, node, untilMs, signal } = request;
    return this.#answer(RENEW, [scope, layout, windowMs, grant, nonce, node, untilMs], grant, signal);
  }

  async release(request: ReleaseRequest): Promise<boolean> {
    checkRelease(request);
    const { scope, grant, node, untilMs, heldUntilMs, signal } = request;
    const rows = await this.#run(RELEASE, [scope, grant, node, untilMs, heldUntilMs], signal);
    return rows !== undefined && rows.length > 0;
  }

  async ensure(request: EnsureRequest): Promise<void> {
    checkEnsure(request);
    await this.#raise(request.scope, request.behind ? "behind" : "changed", request.signal);
  }

  async migrate(): Promise<void> {
    if ((await withinLimit(this, "migrate()", (signal) => this.#run(MIGRATE, [], signal, true))) === undefined)
      throw storeRefused("there is no schema to make the tables in: create it, or pass the option schema");
  }

  async init(options: InitOptions): Promise<boolean> {
    const record = recordOf(options);
    return withinLimit(this, "init()", (signal) => this.#init(record, signal));
  }

  async #init(record: ScopeRecord, signal: AbortSignal): Promise<boolean> {
    const { scope, layout, nodeFrom, nodeTo, windowMaxMs } = record;
    // The second time sees the record that another process made beside the first.
    for (let isLast = false; ; isLast = true) {
      const rows = await this.#run(INIT, [scope, layout, nodeFrom, nodeTo, windowMaxMs], signal, true);
      if (rows === undefined) throw notInitialised(this, scope, await this.#place(signal));
      const [row] = rows as [{ made: Whole; layout: string | null; node_from: Whole; node_to: Whole }];
      if (wholeOf("made", row.made) > 0) return true;
      if (row.layout !== null)
        return isNew(record, {
          layout: row.layout,
          nodeFrom: wholeOf("node_from", row.node_from),
          nodeTo: wholeOf("node_to", row.node_to),
        });
      if (isLast) return isNew(record, "rows");
    }
  }

  async allocate(request: AllocateRequest): Promise<Allocation> {
    return allocateFrom(this, this.#tags, request);
  }

  async initSegment(options: TagOptions): Promise<boolean> {
    return makeTagIn(this, this.#tags, options);
  }

  async fence(options?: { readonly scope?: string }): Promise<number> {
    const scope = fencedScope(options);
    return withinLimit(this, "fence()", (signal) => this.#raise(scope, "always", signal));
  }

  async #raise(scope: string, when: "changed" | "behind" | "always", signal?: AbortSignal): Promise<number> {
    const rows = await this.#run(ENSURE, [scope, when], signal);
    const [row] = rows ?? [];
    if (row === undefined) throw notInitialised(this, scope, await this.#place(signal));
    // Any other fence may have been raised by another process meanwhile.
    if (when === "always" && row["covers"] !== "true")
      throw storeRefused(
        `the fence of the scope "${scope}" was not raised: row-level security, a trigger or a rule keeps its record as it is. Raise it as the owner of the table`,
      );
    return wholeOf("fence_ms", row["fence_ms"]);
  }

  async #answer(
    statement: string,
    values: readonly (string | number | null)[],
    grant: string,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const rows = await this.#run(statement, values, signal);
      const answer = rows && answerOf(rows[0] as unknown as AnswerRow, grant);
      if (answer === undefined || (!answer.granted && answer.reason === "missing"))
        return { granted: false, reason: "missing", place: await this.#place(signal) };
      if (attempt === MAX_ATTEMPTS || !isLostRace(answer)) return answer;
      await pause(attempt, signal);
    }
  }

  /** Where the record is looked for, in words for errors. */
  async #place(signal?: AbortSignal, table = "scopes"): Promise<string> {
    const [row] = (await this.#run(PLACE.replace("{table}", `{${table}}`), ["place"], signal, true)) ?? [];
    const { database, schema, path } = (row ?? {}) as Record<string, string | null>;
    return schema === null
      ? `the database "${database}", which has no table ${this.#complete(`{${table}}`)} (search path: ${path})`
      : `the table frazil_${table} of the schema "${schema}" in the database "${database}"`;
  }

  /**
   * Runs a statement, and again after a conflict. Returns its rows, or undefined if the tables are missing. `mayRollBack`: whether it
   * hands nothing out, so that it may be a part of a transaction of the program.
   */
  async #run(
    statement: string,
    values: readonly (string | number | null)[],
    signal?: AbortSignal,
    mayRollBack = false,
  ): Promise<readonly Row[] | undefined> {
    const text = this.#complete(statement);
    // As text, which every driver passes on as it is: the statement says which type it means.
    const texts = values.map((value) => (value === null ? null : `${value}`)) as string[];
    if (!mayRollBack && isTransaction(this.#client)) throw storeRefused(TRANSACTION_RULE);
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      try {
        const ran = await untilAborted(this.#query(text, texts, signal), signal);
        if (ran.mayRollBack && !mayRollBack) throw storeRefused(TRANSACTION_RULE);
        return ran.rows;
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        if (FrazilError.is(error)) throw error;
        const state = stateOf(error);
        if (state === NO_SCHEMA || (state === NO_TABLE && (await this.#says(lacksTables(statement), signal))))
          return undefined;
        if (!CONFLICTS.includes(state) || attempt === MAX_ATTEMPTS)
          throw this.#errorOf(error, state, statement, await this.#lackOf(state, signal));
        await pause(attempt, signal);
      }
    }
  }

  /** What the server lacks that answered with this SQLSTATE, if it says so. */
  async #lackOf(state: string, signal: AbortSignal | undefined): Promise<Lack> {
    if (!UNKNOWN_FUNCTION.includes(state)) return undefined;
    if (state === NOT_IN_STATE && (await this.#says("pg_is_in_recovery()", signal))) return "writes";
    // Rules and foreign tables have one of these codes too.
    return (await this.#says("coalesce(({server})::text, '') >= ''", signal)) ? undefined : "incarnation";
  }

  /** Whether a condition holds, for what a SQLSTATE alone does not tell: messages are in the language of the server. */
  async #says(condition: string, signal: AbortSignal | undefined): Promise<boolean> {
    const text = this.#complete(`SELECT $1::text AS asked, (${condition})::text AS answer, ${MAY_ROLL_BACK}`);
    const asking = this.#query(text, ["answer"], signal).then(
      ({ rows }) => rows[0]?.["answer"] === "true",
      () => false,
    );
    return untilAborted(asking, signal);
  }

  /** The error for a failure of the client, which stays its cause. */
  #errorOf(error: unknown, state: string, statement: string, lack: Lack): LeaseError {
    const reported = `Postgres answered ${state} (${(error as Error).message})`;
    if (state === "42501")
      return storeRefused(
        statement === MIGRATE
          ? `${reported}: migrate() needs CREATE on the schema, which roles lack by default. Run it, or the SQL of npx frazil ddl postgres, as the owner of the schema`
          : `${reported}: the role lacks a right. It needs USAGE on the schema. Run: ${this.#complete(rightsFor(this.#complete(statement)))}`,
        error,
      );
    if (state === FAILED_TRANSACTION) return storeRefused(`${reported}: ${TRANSACTION_RULE}`, error);
    if (state === "25006" || lack === "writes")
      return storeRefused(
        `${reported}: this server takes no writes from here: it is a read-only replica, or transactions are read-only by default. Connect to the primary`,
        error,
      );
    if (state === "23502" && columnOf(error) === "incarnation")
      return storeRefused(`${reported}: ${NO_INCARNATION}`, error);
    if (lack === "incarnation")
      return storeRefused(
        `${reported}: this server cannot say which incarnation it is (Aurora, CockroachDB). Pass the option incarnation: ` +
          '{ sql: "…" } with an expression whose value changes when acknowledged writes may have been lost',
        error,
      );
    // Of pgbouncer, which has one code for most of its errors, and one language.
    const [, parameter] = /^unsupported startup parameter: (\S+)/.exec((error as Error).message) ?? [];
    if (parameter !== undefined)
      return storeRefused(
        `${reported}: pgbouncer refuses it. Add ${parameter} to its ignore_startup_parameters, or leave it out of the client's options`,
        error,
      );
    // Other statements that cannot run here, wrong credentials, and a database that does not exist.
    if (/^(0A|42|22|28|3D)/.test(state)) return storeRefused(reported, error);
    if (state) return storeUnavailable(reported, error);
    const { errno, sqlState } = (error ?? {}) as { errno?: unknown; sqlState?: unknown };
    if (typeof errno === "number" && typeof sqlState === "string")
      return storeRefused(
        `the server answered ${errno} (${(error as Error).message}), as MariaDB and MySQL do: they need MySqlStore of frazil/stores/mysql`,
        error,
      );
    return storeUnavailable(
      `Postgres did not answer: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

/** The condition that a table is missing which a statement names, and not one of an expression of the user. */
const lacksTables = (statement: string): string =>
  ["scopes", "leases", "segments"]
    .filter((table) => statement.includes(`{${table}}`))
    .map((table) => `to_regclass('{${table}}') IS NULL`)
    .join(" OR ") || "false";

/** The column that an error names: `pg` and PGlite, and `postgres`. */
const columnOf = (error: unknown): unknown => {
  const { column, column_name: name } = error as { column?: unknown; column_name?: unknown };
  return column ?? name;
};

/** Puts the tables and the incarnation into a statement. */
function completion(options: PostgresStoreOptions): (statement: string) => string {
  const { schema, incarnation = "postgres" } = checkGiven(options, "schema, incarnation") as PostgresStoreOptions;
  if (schema !== undefined && (typeof schema !== "string" || !/^[a-z_][\w$-]{0,62}$/i.test(schema)))
    throw optionError("schema", schema, SCHEMA_RULE);
  const isOurs = incarnation === "postgres" || incarnation === "postgres-with-start";
  let sql: unknown;
  if (incarnation === "postgres") sql = SERVER;
  else if (incarnation === "postgres-with-start") sql = `${SERVER} || '/' || ${STARTED}`;
  else if (incarnation === "none-accepting-repeats-after-failover") sql = "''";
  else sql = (incarnation as { sql?: unknown } | null)?.sql;
  if (typeof sql !== "string" || sql.trim() === "") throw optionError("incarnation", incarnation, INCARNATION_RULE);
  const prefix = schema === undefined ? "" : `"${schema}".`;
  const parts: Record<string, string> = {
    scopes: `${prefix}frazil_scopes`,
    leases: `${prefix}frazil_leases`,
    segments: `${prefix}frazil_segments`,
    durable: DURABLE,
    server: sql,
    // Of leases: segments have `server` alone.
    incarnation: isOurs ? `${sql}${tableIn(prefix)}` : sql,
  };
  return (statement) =>
    statement.replace(
      /\{(scopes|leases|segments|server|incarnation|durable)\}/g,
      (_, part: string) => parts[part] as string,
    );
}

/**
 * What `migrate` and `init` (or `initSegment`) do, as SQL for people to read and run: the tables, the rights of a role, the
 * record of a scope, or those of tags.
 *
 * @internal
 */
export function postgresDdl(options: InitOptions | DdlTags, store: PostgresStoreOptions, role?: string): string {
  // Commented out without a role, so that the whole can be passed to psql.
  const rights = PERMISSIONS.map((right) =>
    role === undefined ? `-- ${right}` : right.replace("your_role", quoted(role)),
  );
  const text = `-- The tables, once for each database.
${TABLES}
-- The rights of the role that your program connects as.
${rights.join("\n")}

${"tags" in options ? tagRecords(options) : scopeRecord(options)}`;
  return completion(store)(text);
}

function scopeRecord(options: InitOptions): string {
  const { scope, layout, nodeFrom, nodeTo, windowMaxMs } = recordOf(options);
  const values = [`'${scope}'`, `'${layout}'`, nodeFrom, nodeTo, windowMaxMs];
  return `-- The record of the scope "${scope}", once, on the primary. It fails if there is one: leave that as it is.
${INSERT_RECORD.replace(/\$(\d)/g, (_, at) => `${values[at - 1]}`)}`;
}

/**
 * What `fence` does, as SQL for people to read and run.
 *
 * @internal
 */
export function postgresFence(name: string, store: PostgresStoreOptions): string {
  const scope = fencedScope({ scope: name });
  return completion(store)(`-- Raises the fence of the scope "${scope}" after a restore: nothing is granted before it.
-- On the primary, before the programs start: npx frazil fence postgres … | psql -v ON_ERROR_STOP=1 "$DATABASE_URL"
BEGIN; -- also where the client commits nothing by itself
DO $frazil$ BEGIN
  PERFORM {durable};
  UPDATE {scopes} SET incarnation = ({incarnation})::text, fence_ms = greatest(fence_ms,
    floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + window_max_ms + ${FENCE_MARGIN_MS})
  WHERE scope = '${scope}';
  IF NOT FOUND THEN RAISE EXCEPTION 'this database has no scope "${scope}"'; END IF;
END $frazil$;
COMMIT;
SELECT scope, to_timestamp(fence_ms / 1000.0) AS nothing_is_granted_before FROM {scopes} ORDER BY scope;
`);
}

/** A name as an identifier of SQL. */
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
