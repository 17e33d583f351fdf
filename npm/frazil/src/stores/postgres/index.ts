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
 * - **The clock is the server's**, `clock_timestamp()`. `now()` is the start of the transaction: with it a statement that waited for a
 *   lock, or runs in a transaction of the caller, would lie in the past.
 * - **Every isolation level**: a statement that Postgres could not serialise is repeated.
 * - **A grant is on disk before it is answered**, even if `synchronous_commit` is off for the role.
 *
 * A statement that the driver does not wait for any more keeps its connection until the server has answered it: while the tables are
 * locked, each attempt takes one more from the pool. Give the store its own pool with time limits:
 * `new pg.Pool({ max: 2, statement_timeout: 3000, connectionTimeoutMillis: 3000 })`.
 *
 * - **A client inside a transaction of yours is refused**, whose rollback takes back what was handed out: give the store a pool, or its own
 *   client. Only `migrate`, `init` and `initSegment` may run in one. One of a pool that your program released so is replaced.
 *
 * Not checked: `fsync = off` of the server.
 */
import { FrazilError, type LeaseError } from "../../base/errors.js";
import { fromOutside } from "../../base/outside-text.js";
import { untilAborted } from "../../base/wait.js";
import { type AnswerRow, answerOf, type Whole, wholeOf } from "../kit/answer-rows.js";
import {
  messageOf,
  NO_INCARNATION,
  notInitialised,
  storeRefused,
  storeUnavailable,
  TRANSACTION_RULE,
} from "../kit/errors.js";
import { isNew } from "../kit/found-record.js";
import {
  checkAcquire,
  checkEnsure,
  checkRelease,
  checkRenew,
  fencedScope,
  recordOf,
  type ScopeRecord,
} from "../kit/lease/requests.js";
import { rightsFor } from "../kit/permissions.js";
import { isLostRace, MAX_ATTEMPTS, sleepAfterRace } from "../kit/races.js";
import { allocateFrom, makeTagIn } from "../kit/segment/tag-table.js";
import { withinLimit } from "../kit/set-up-limit.js";
import type {
  AcquireRequest,
  Answer,
  EnsureRequest,
  InitOptions,
  ManagedStore,
  ReleaseRequest,
  RenewRequest,
} from "../lease-store.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../segment-store.js";
import {
  FAILED_TRANSACTION,
  isTransaction,
  MAY_ROLL_BACK,
  type PostgresClient,
  type Query,
  queryOf,
  type Row,
  stateOf,
  waitOf,
} from "./client.js";
import { ACQUIRE, ENSURE, INIT, MIGRATE, RELEASE, RENEW } from "./lease-statements.js";
import { completion, type PostgresStoreOptions } from "./options.js";
import { PostgresTags } from "./segments.js";

export type * from "../lease-store.js";
export type * from "../segment-store.js";
export type { PostgresClient, QueryClient, UnsafeClient } from "./client.js";
/** @internal */
export { postgresDdl, postgresFence } from "./ddl.js";
export type { PostgresStoreOptions } from "./options.js";

/**
 * Where the tables are, for errors. It has a value ($1): the client `postgres` sends a statement without one by the simple protocol, and
 * waits for ever behind pgbouncer when both protocols meet.
 */
const PLACE = `SELECT $1::text AS asked, current_database() AS database, current_setting('search_path') AS path,
  (SELECT n.nspname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.oid = to_regclass('{table}')) AS schema, ${MAY_ROLL_BACK}`;

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
      throw storeRefused("there is no schema to make the tables in\nCreate it, or pass the option schema.");
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
        `the fence of the scope "${scope}" was not raised\nRow-level security, a trigger or a rule keeps its record as it is. Raise it as the owner of the table.`,
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
      await sleepAfterRace(attempt, signal);
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
        await sleepAfterRace(attempt, signal);
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
    const reported = `Postgres answered ${state} (${messageOf(error)})`;
    if (state === "42501")
      return storeRefused(
        statement === MIGRATE
          ? `${reported}\nmigrate() needs CREATE on the schema, which roles lack by default. Run it, or the SQL of npx frazil ddl postgres, as the owner of the schema.`
          : `${reported}\nThe role lacks a right. It needs USAGE on the schema. Run: ${this.#complete(rightsFor(this.#complete(statement)))}`,
        error,
      );
    // Views and foreign tables have no keys, views no xmin, and both may take no writes; nor does a table that a publication has in part.
    if (
      state === "42P10" ||
      (state === "42703" && reported.includes("xmin")) ||
      (state === NOT_IN_STATE && lack === undefined)
    ) {
      const { detail } = error as { detail?: unknown };
      const more = typeof detail === "string" ? ` ${fromOutside(detail)}` : "";
      return storeRefused(
        `${reported}${more}\nIf a table of frazil is a foreign table or a view, use the table itself, on its server. If it has no primary key, migrate() did not make it. If a publication has it, that may leave out no rows or columns.`,
        error,
      );
    }
    if (state === FAILED_TRANSACTION) return storeRefused(`${reported}, since ${TRANSACTION_RULE}`, error);
    if (state === "25006" || lack === "writes")
      return storeRefused(
        `${reported}\nThis server takes no writes from here: it is a read-only replica, or transactions are read-only by default. Connect to the primary.`,
        error,
      );
    if (state === "23502" && columnOf(error) === "incarnation")
      return storeRefused(`${reported}, since ${NO_INCARNATION}`, error);
    if (lack === "incarnation")
      return storeRefused(
        `${reported}\nThis server cannot say which incarnation it is (Aurora, CockroachDB). Pass the option incarnation: ` +
          '{ sql: "…" } with an expression whose value changes when acknowledged writes may have been lost.',
        error,
      );
    // Of pgbouncer, which has one code for most of its errors, and one language.
    const [, parameter] = /^unsupported startup parameter: (\S+)/.exec((error as Error).message) ?? [];
    if (parameter !== undefined)
      return storeRefused(
        `${reported}\npgbouncer refuses it. Add ${parameter} to its ignore_startup_parameters, or leave it out of the client's options.`,
        error,
      );
    // Other statements that cannot run here, wrong credentials, and a database that does not exist.
    if (/^(0A|42|22|28|3D)/.test(state)) return storeRefused(reported, error);
    if (state) return storeUnavailable(reported, error);
    const { errno, sqlState } = (error ?? {}) as { errno?: unknown; sqlState?: unknown };
    if (typeof errno === "number" && typeof sqlState === "string")
      return storeRefused(
        `the server answered ${errno} (${messageOf(error)}), as MariaDB and MySQL do\nThey need MySqlStore of frazil/stores/mysql.`,
        error,
      );
    return storeUnavailable(`Postgres did not answer: ${messageOf(error)}`, error);
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
