/** Clients of MariaDB and MySQL: running a statement, and reading its result, with `mysql2` and `mariadb`. */

import { clientError } from "../kit/argument-errors.js";
import { hintFor } from "../kit/clients.js";
import { storeRefused } from "../kit/errors.js";
import { type PooledConnection, pooledQuery } from "../kit/pooled.js";

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
  /** A `Pool` of `pg` has the first, and a `Client` the second: they are for another store. */
  readonly waitingCount?: never;
  readonly escapeIdentifier?: never;
}

/** What a pool or a connection of `mysql2` with callbacks can do. */
export interface MySqlCallbackClient {
  promise(): MySqlPromiseClient;
}

/** Your client: a pool or a connection of `mysql2` or `mariadb`. The store neither opens nor closes it. */
export type MySqlClient = MySqlPromiseClient | MySqlCallbackClient;

const CLIENT_RULE =
  "must be a pool or a connection of mysql2 (mysql2/promise, or one with callbacks and its promise()) or of mariadb\nIt has " +
  "query(statement, values), which returns a promise.";
const PROMISE_RULE =
  "the client returned no promise\nUse mysql2/promise or pool.promise() of mysql2, or the package mariadb without /callback.";

/** A row of a result. @internal */
export type Row = Readonly<Record<string, unknown>>;

/** A value of a statement. @internal */
export type Value = string | number | null;

/** Runs a statement. @internal */
export type Query = (text: string, values: Value[], signal?: AbortSignal) => PromiseLike<unknown>;

/** A connection that was taken from a pool of `mysql2/promise` or `mariadb`. */
interface Connection extends MySqlPromiseClient {
  release(): unknown;
  destroy(): void;
  /** Of `mariadb`, as the next one. */
  readonly info?: { readonly status?: number } | null;
  readonly __tests?: { getSocket?(): { destroy(error: Error): unknown } | undefined };
}

interface Pool {
  getConnection(): PromiseLike<Connection>;
}

/** The call of a client that runs a statement. @internal */
export function queryOf(client: unknown): Query {
  let given = (client ?? {}) as { query?: unknown; promise?: unknown };
  if (typeof given.promise === "function") given = given.promise() as typeof given;
  const { query } = given;
  const rule = CLIENT_RULE + hintFor("mysql", given);
  if (typeof query !== "function" || rule !== CLIENT_RULE) throw clientError(client, rule);
  if (typeof (given as Partial<Pool>).getConnection !== "function") return (sql, values) => run(given, sql, values);
  const pooled = pooledQuery(async () => {
    const taking = (given as Pool).getConnection();
    if (!isPromise(taking)) throw storeRefused(PROMISE_RULE);
    return lent(await taking);
  });
  return async (sql, values, signal) => (await pooled(sql, values, signal)).answer;
}

/** A connection that a pool has lent. That of `mysql2`, and that of `mariadb` with `noControlAfterUse`, can be inside a transaction. */
function lent(connection: Connection): PooledConnection<Value, { readonly answer: unknown }> {
  let running: PromiseLike<unknown>;
  return {
    async run(sql, values) {
      const wasInTransaction = shownTransaction(connection);
      try {
        running = run(connection, sql, values);
        const answer = await running;
        return shownTransaction(connection) || isFromTransaction(resultOf(answer)) ? undefined : { answer };
      } catch (error) {
        // A COMMIT of the program may have been on its way.
        if (wasInTransaction) return undefined;
        throw error;
      }
    },
    release: () => connection.release(),
    destroy: () => destroy(connection, running),
  };
}

/** Flags in the status that the server sends with each result. Without autocommit each statement is in a transaction: that is refused. */
const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;

/** Whether a status is that of a transaction that a program has begun. */
const isBegun = (status = 0): boolean => (status & IN_TRANSACTION) !== 0 && (status & AUTOCOMMIT) !== 0;

/** Whether a connection is inside a transaction by the last result: `mariadb` shows it. */
const shownTransaction = ({ info }: Connection): boolean => isBegun(info?.status);

/** Whether a result is one of a transaction: `mysql2` has the status of each write, and MariaDB says it to each read. */
function isFromTransaction(result: unknown): boolean {
  if (!Array.isArray(result)) return isBegun(statusOf(result));
  const { in_transaction: isOpen, autocommit } = Object(result[0]) as Row;
  return String(isOpen) === "1" && String(autocommit) === "1";
}

/** The status in the result of a write, if the client passes it on. */
function statusOf(result: unknown): number | undefined {
  const { serverStatus } = Object(result) as { serverStatus?: unknown };
  return typeof serverStatus === "number" ? serverStatus : undefined;
}

/** Whether a write is a part of a transaction, if the client passes the status on. @internal */
export const isInTransaction = (result: unknown): boolean => ((statusOf(result) ?? 0) & IN_TRANSACTION) !== 0;

/**
 * Ends a connection whose statement has no answer. `destroy()` of `mariadb` has the server KILL the session by its number, over another
 * connection. If the session is gone, that error is not handled, and Node ends the process; behind a load balancer, the number may be that
 * of another session (its issue 304). So its socket is destroyed, as `mysql2` does; when the statement has failed of it, `destroy()` only
 * tells the pool.
 */
function destroy(connection: Connection, running: PromiseLike<unknown>): void {
  const socket = connection.__tests?.getSocket?.();
  if (socket === undefined) {
    connection.destroy();
    return;
  }
  const toPool = () => connection.destroy();
  running.then(toPool, toPool);
  socket.destroy(new Error("Frazil: the statement had no answer in the time of its attempt"));
}

const isPromise = (value: unknown): boolean => typeof (value as { then?: unknown } | undefined)?.then === "function";

function run(client: unknown, sql: string, values: Value[]): PromiseLike<unknown> {
  const statement: MySqlStatement = { sql, rowsAsArray: false, nestTables: false, namedPlaceholders: false };
  const result = (client as MySqlPromiseClient).query(statement, values);
  if (!isPromise(result)) throw storeRefused(PROMISE_RULE);
  return result;
}

/** The result itself: `mysql2` answers it in an array with the columns beside it. @internal */
export const resultOf = (answer: unknown): unknown =>
  Array.isArray(answer) &&
  (Array.isArray(answer[0]) || (answer[0] as { affectedRows?: unknown } | null | undefined)?.affectedRows !== undefined)
    ? answer[0]
    : answer;

/** The rows of a result. @internal */
export function rowsOf(answer: unknown): readonly Row[] {
  const rows = resultOf(answer);
  if (!Array.isArray(rows) || rows.some((row) => typeof row !== "object" || row === null || Array.isArray(row)))
    throw storeRefused("the client returned no rows with names\nTurn its array mode off.");
  return rows;
}
