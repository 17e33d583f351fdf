/** Clients of MariaDB and MySQL: running a statement, and reading its result, with `mysql2` and `mariadb`. */
import { storeRefused } from "./answers.js";
import { hintFor } from "./clients.js";
import { clientError } from "./given.js";
import { type PooledConnection, pooledQuery } from "./pooled.js";

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
  "must be a pool or a connection of mysql2 (mysql2/promise, or one with callbacks and its promise()) or of mariadb: an object " +
  "with query(statement, values) that returns a promise";
const PROMISE_RULE =
  "the client returned no promise. Use mysql2/promise or pool.promise() of mysql2, or the package mariadb without /callback";

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
  /** Of `mariadb`. */
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
  return pooledQuery(async (): Promise<PooledConnection<Value>> => {
    const taking = (given as Pool).getConnection();
    if (!isPromise(taking)) throw storeRefused(PROMISE_RULE);
    const connection = await taking;
    let running: PromiseLike<unknown>;
    return {
      query: (sql, values) => {
        running = run(connection, sql, values);
        return running;
      },
      release: () => connection.release(),
      destroy: () => destroy(connection, running),
    };
  });
}

/**
 * Ends a connection whose statement has no answer. `destroy()` of `mariadb` has the server KILL the session by its number, over another
 * connection. If the session is gone, nobody handles that error, and Node ends the process; behind a load balancer, the number may be
 * that of another session (its issue 304). So its socket is destroyed, as `mysql2` does; when the statement has failed of it, `destroy()`
 * only tells the pool.
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
    throw storeRefused("the client returned no rows with names: turn its array mode off");
  return rows;
}
