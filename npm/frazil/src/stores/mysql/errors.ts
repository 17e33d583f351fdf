/** What MariaDB and MySQL answer where a statement fails, by number: whether it took place, and what to do. */
import type { LeaseError } from "../../base/errors.js";
import { messageOf, storeRefused, storeUnavailable } from "../kit/errors.js";
import { rightsFor } from "../kit/permissions.js";
import type { OldTable } from "./old-tables.js";
import { READ_ONLY_RULE } from "./server.js";

/** The errors after which a statement certainly did not take place, and something else may be there to decide on. */
export const CONFLICTS = [
  1020, // ER_CHECKREAD: another session changed the record (innodb_snapshot_isolation)
  1205, // ER_LOCK_WAIT_TIMEOUT
  1062, // ER_DUP_ENTRY: an earlier attempt with this grant has just ended
  1213, // ER_LOCK_DEADLOCK
];
export const NO_SUCH_TABLE = 1146;
export const NO_SUCH_COLUMN = 1054;
export const NO_SUCH_KEY = 1176;
export const DUPLICATE = 1062;
/** The server, or this session, takes no writes. */
const READ_ONLY = [1290, 1792, 1836];
const NO_RIGHT_ON_DATABASE = 1044;
const NO_DATABASE = 1049;
const NO_DATABASE_CHOSEN = 1046;
const NO_SUCH_VARIABLE = 1193;
export const NO_RIGHT = [1142, 1143, 1227, 1370];
/** Other statements that cannot run here, wrong credentials, and a database that does not exist. */
const REFUSED = [
  1045, 1046, 1048, 1054, 1064, 1100, 1104, 1130, 1176, 1193, 1235, 1241, 1242, 1251, 1264, 1267, 1305, 1348, 1364,
  1366, 1406, 1524, 1582, 1698,
];

/** The number of an error of the server, or 0. Drivers number errors of the network too: below 0, or from 45,000 on. */
export function numberOf(error: unknown): number {
  const number = (error as { errno?: unknown } | null | undefined)?.errno;
  return typeof number === "number" && number >= 1000 && number < 10_000 ? number : 0;
}

/** What the client reported. The reason of a signal may be any value. */
export const causeOf = (error: unknown): unknown => (error as { cause?: unknown } | null | undefined)?.cause;

/**
 * The error for a failure of the client, which stays its cause. `complete` names the tables in a statement, and `oldTables` are those that
 * scopes take their node ids from. If a number alone is not enough, the statement decides: messages are in the language of the server.
 */
export function errorOf(
  error: unknown,
  statement: string,
  complete: (statement: string) => string,
  oldTables: ReadonlyMap<string, OldTable>,
): LeaseError {
  // The pool of `mariadb` reports that it got no connection, and has the answer of the server as the cause.
  const answered = numberOf(error) === 0 && numberOf(causeOf(error)) > 0 ? causeOf(error) : error;
  const message = messageOf(answered);
  const number = numberOf(answered);
  const { severity, code } = (error ?? {}) as { severity?: unknown; code?: unknown };
  if (number === 0 && typeof severity === "string" && typeof code === "string")
    return storeRefused(
      `the server answered ${code} (${message}), as Postgres does\nIt needs PostgresStore of frazil/stores/postgres.`,
      error,
    );
  if (number === 0) return storeUnavailable(`the server did not answer: ${message}`, error);
  const reported = `the server answered ${number} (${message})`;
  const more = [...oldTables.values()].map(({ permission }) => permission);
  if (NO_RIGHT.includes(number))
    return storeRefused(
      `${reported}\nThe user lacks a right. Run: ${complete(rightsFor(statement, more))}. migrate() needs CREATE on the database.`,
      error,
    );
  if (number === NO_DATABASE || number === NO_RIGHT_ON_DATABASE)
    return storeRefused(
      `${reported}\n${number === NO_DATABASE ? "There is no such database" : "The user has no right on this database, or there is none of this name"}. Check the database in the settings of the client and the option database.`,
      error,
    );
  const user = number === NO_SUCH_TABLE ? [...oldTables].find(([, { name }]) => statement.includes(name)) : undefined;
  if (user !== undefined)
    return storeRefused(
      `${reported}\nThe scope "${user[0]}" takes its node ids from it. Restore it. Before an old table is dropped, call leaveOldTable({ scope: "${user[0]}" }).`,
      error,
    );
  if (READ_ONLY.includes(number)) return storeRefused(`${reported}\n${READ_ONLY_RULE}`, error);
  if (number === NO_DATABASE_CHOSEN)
    return storeRefused(
      `${reported}\nName a database in the settings of the client, or pass the option database.`,
      error,
    );
  if (number === NO_SUCH_VARIABLE)
    return storeRefused(
      `${reported}\nThis server cannot say which incarnation it is, or how it is set up. It must be MySQL 5.7 or MariaDB 10.6, or newer, or the option incarnation is wrong.`,
      error,
    );
  return REFUSED.includes(number) || number === NO_SUCH_TABLE
    ? storeRefused(reported, error)
    : storeUnavailable(reported, error);
}
