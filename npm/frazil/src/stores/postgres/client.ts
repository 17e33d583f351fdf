/** Clients of Postgres: running a statement, and whether it ran inside a transaction of the program. */

import { clientError } from "../kit/argument-errors.js";
import { hintFor } from "../kit/clients.js";
import { storeRefused, storeUnavailable } from "../kit/errors.js";
import { type PooledConnection, pooledQuery } from "../kit/pooled.js";

/** What a client with `query` can be: a `Pool` or `Client` of `pg`, PGlite, Neon. */
export interface QueryClient {
  query(text: string, values: unknown[]): PromiseLike<unknown>;
  /** Clients of MariaDB and MySQL have it: they are for another store. */
  readonly escapeId?: never;
}

/** What the client of the package `postgres` can do. */
export interface UnsafeClient {
  unsafe(text: string, values: never[]): PromiseLike<unknown>;
}

/** Your client: of `pg`, `postgres`, PGlite or Neon. The store neither opens nor closes it. */
export type PostgresClient = QueryClient | UnsafeClient;

/** A row of a result. @internal */
export type Row = Readonly<Record<string, unknown>>;

/** The rows of a statement, and whether a rollback of the program may still take back what it wrote. @internal */
export interface Ran {
  readonly rows: readonly Row[];
  readonly mayRollBack: boolean;
}

/** Runs a statement. @internal */
export type Query = (text: string, values: string[], signal?: AbortSignal) => Promise<Ran>;

/** When the server was started, in milliseconds: its text would have the time zone of the session. @internal */
export const STARTED = "floor(extract(epoch FROM pg_postmaster_start_time()) * 1000)::bigint::text";

/** Instead of a transaction: of rows that another server keeps. */
const FOREIGN = "foreign";

/**
 * A column of every row: the transaction in which a statement wrote, and when the server was started; or null if it wrote nothing.
 * `written`: the `xmin` of what it answers with. If that was written behind a savepoint, it is in its own transaction, which can be rolled
 * back although the one around it is committed. A row of a foreign table has the `xmin` 0, also if this transaction wrote it.
 *
 * @internal
 */
export const writtenBy = (written: string): string =>
  `CASE WHEN (${written})::text = '0' THEN '${FOREIGN}' ELSE (txid_current_if_assigned() + CASE WHEN ((${written})::text::bigint - txid_current_if_assigned()) & 4294967295 < 2147483648
    THEN ((${written})::text::bigint - txid_current_if_assigned()) & 4294967295 ELSE 0 END)::text || '@' || ${STARTED} END AS xact_id`;
/** The same of statements that may be a part of a transaction of the program. @internal */
export const MAY_ROLL_BACK = "NULL::text AS xact_id";

/** The outcome of the transaction $1; null if the server was started since: after a crash it gives the number to another one. */
const OUTCOME = `SELECT CASE WHEN split_part($1::text, '@', 2) = ${STARTED}
  THEN txid_status(split_part($1::text, '@', 1)::bigint) END AS outcome, ${MAY_ROLL_BACK}`;
/** The SQLSTATE of a server that has not begun the transaction yet, since another one had. */
const IN_THE_FUTURE = "22023";

const CLIENT_RULE =
  "must be a Pool or Client of pg, a client of postgres, PGlite, or a client of Neon\nIt has query(text, values), or is a function " +
  "with unsafe(text, values).";

/** In a transaction of the program that has failed. @internal */
export const FAILED_TRANSACTION = "25P02";

type Callback = (error: unknown, result: unknown) => void;
type Call = (text: string, values: string[], callback?: Callback) => PromiseLike<unknown> | undefined;

/** A `Client` that a `Pool` of `pg` or Neon lent. */
interface PooledClient {
  query: Call;
  on(event: "error", listener: (error: unknown) => void): unknown;
  removeListener(event: "error", listener: (error: unknown) => void): unknown;
  release(error?: unknown): void;
}

/** The call of a client that runs a statement. @internal */
export function queryOf(client: unknown): Query {
  const given = (client ?? {}) as { query?: unknown; unsafe?: unknown };
  const hint = hintFor("postgres", client);
  const { connect, totalCount } = given as { connect?: () => PromiseLike<PooledClient>; totalCount?: unknown };
  if (
    hint === "" &&
    typeof given.query === "function" &&
    typeof connect === "function" &&
    typeof totalCount === "number"
  )
    return pooledQuery(async () => lent(await connect.call(client)));
  // In this order: Neon's function has both, and its `unsafe` makes a part of a statement.
  for (const call of ["query", "unsafe"] as const) {
    if (typeof given[call] !== "function" || hint !== "") continue;
    return (text, values) => run(client, call, text, values);
  }
  const rule = CLIENT_RULE + hint;
  throw clientError(client, rule);
}

/** Whether a client is a transaction: `postgres` and PGlite hand one to a function, with calls that nothing else has. @internal */
export const isTransaction = (client: unknown): boolean =>
  ["savepoint", "rollback"].some((name) => typeof (client as Record<string, unknown>)[name] === "function");

const showsStatus = (client: unknown): client is { getTransactionStatus(): unknown } =>
  typeof (client as { getTransactionStatus?: unknown }).getTransactionStatus === "function";

/** Whether a client is inside a transaction by the last answer of the server, if it shows that: a `Client` of `pg` does. */
function shownTransaction(client: unknown): boolean | undefined {
  const status = showsStatus(client) ? client.getTransactionStatus() : undefined;
  if (status === "T" || status === "E") return true;
  return status === "I" ? false : undefined;
}

/**
 * Runs a statement. A client of `pg` shows in its callback the status that came with this answer, also if others are on their way already
 * (`pipeline`). Any other is asked once more for the transaction of what was written, which must be over.
 */
async function run(client: unknown, call: "query" | "unsafe", text: string, values: string[]): Promise<Ran> {
  const { result, isInTransaction } = await answered(client, call, text, values);
  const rows = rowsOf(result);
  const written = rows[0]?.["xact_id"];
  if (isInTransaction !== undefined) return { rows, mayRollBack: isInTransaction };
  if (written === undefined || written === null) return { rows, mayRollBack: false };
  if (written === FOREIGN) throw storeRefused(FOREIGN_TABLE);
  const asked = answered(client, call, OUTCOME, [String(written)]).catch((error: unknown) => {
    throw stateOf(error) === IN_THE_FUTURE ? storeUnavailable(TAKEN_OVER, error) : error;
  });
  const [row] = rowsOf((await asked).result);
  const outcome = row?.["outcome"] ?? null;
  if (outcome === null) throw storeUnavailable(TAKEN_OVER);
  return { rows, mayRollBack: outcome !== "committed" };
}

const FOREIGN_TABLE =
  "a table of frazil is a foreign table, of which this client does not know whether what was written is committed\nConnect to the server that has the table.";
const TAKEN_OVER =
  "the server that was asked next does not know what was written\nAnother one has taken over, or it was started again.";

interface Answered {
  readonly result: unknown;
  /** Undefined: the client does not show it. */
  readonly isInTransaction: boolean | undefined;
}

async function answered(client: unknown, call: "query" | "unsafe", text: string, values: string[]): Promise<Answered> {
  const given = client as Record<typeof call, Call>;
  if (!showsStatus(client)) return { result: await given[call](text, values), isInTransaction: undefined };
  return new Promise((resolve, reject) => {
    const promised = given[call](text, values, (error, result) => {
      if (error) reject(error);
      else resolve({ result, isInTransaction: shownTransaction(client) });
    });
    // A `query` that replaces the client's may take no callback. If its promise has no result, it took it.
    promised?.then((result) => {
      if (result !== undefined) resolve({ result, isInTransaction: undefined });
    }, reject);
  });
}

/** Why a statement may be without an answer, as far as a client shows it: `pg` does. @internal */
export function waitOf(client: unknown): string | undefined {
  const given = client as Record<string, unknown>;
  const { totalCount, idleCount, waitingCount, _connected: isConnected, _connecting: isConnecting } = given;
  if (isConnected === false && isConnecting === false)
    return "the Client of pg was never connected, and waits for ever\nCall await client.connect() first.";
  if (typeof waitingCount !== "number" || waitingCount === 0 || idleCount !== 0) return undefined;
  return `the pool has no free connection (in use: ${totalCount}, waiting: ${waitingCount})\nThe database does not answer, or other statements use them. Give leases and segments their own pool.`;
}

/** A client of a pool, which reports the end of its connection while it is lent: without a listener, the process would end. */
function lent(client: PooledClient): PooledConnection<string, Ran> {
  const ignore = () => {}; // its statement fails too
  client.on("error", ignore);
  const release = (error: unknown) => {
    // As `pool.query` does: the pool ends a client whose statement failed. It may report an error until then.
    if (error === undefined) client.removeListener("error", ignore);
    client.release(error);
  };
  return {
    async run(text, values) {
      // A COMMIT of the program may be on its way, so this says nothing about the statement, unless that fails.
      const wasInTransaction = shownTransaction(client);
      try {
        const ran = await run(client, "query", text, values);
        return ran.mayRollBack ? undefined : ran;
      } catch (error) {
        if (wasInTransaction || stateOf(error) === FAILED_TRANSACTION) return undefined;
        throw error;
      }
    },
    release,
    destroy: () => client.release(true),
  };
}

/** The rows of a result: `pg`, PGlite and Neon's pool return an object that has them, the others return them. */
function rowsOf(result: unknown): readonly Row[] {
  const rows = Array.isArray(result) ? result : (result as { rows?: unknown } | null | undefined)?.rows;
  if (!Array.isArray(rows) || rows.some((row) => typeof row !== "object" || row === null || Array.isArray(row)))
    throw storeRefused("the client returned no rows with names\nTurn its array mode off, and pass no callback.");
  const [row] = rows as Row[];
  if (row !== undefined && !("xact_id" in row))
    throw storeRefused(
      `the client returned the columns ${Object.keys(row).join(", ")}, and not xact_id\nIt must leave names as they are. Give the store a client without a transform, such as postgres.camel.`,
    );
  return rows;
}

/** The SQLSTATE of an error, or "". Errors of the network have codes too, such as `EPIPE`: each SQLSTATE has a digit. @internal */
export function stateOf(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : "";
}
