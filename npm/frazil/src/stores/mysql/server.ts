/** Checks of a server of MariaDB or MySQL, and of a session: what would lose, or take back, what it acknowledged is refused. */
import { saidOf } from "../../base/errors.js";
import { NO_INCARNATION, storeRefused, TRANSACTION_RULE } from "../kit/errors.js";
import type { Row } from "./client.js";

/** A setting of the server that is on. */
const isOn = (value: unknown): boolean => !["0", "OFF", "false", "null", "undefined"].includes(String(value));

/** The value of the option `binlog` with which a program accepts that a crash of the host takes back what was handed out last. */
export const UNSYNCED = "unsynced-accepting-repeats-after-crash";
export type Binlog = "synced" | typeof UNSYNCED;

/**
 * Refuses a server or a session that may lose, or take back, what it acknowledged. `binlog`: the option of that name, for stores that
 * have it.
 */
export function checkServer(row: Row | undefined, binlog?: Binlog): asserts row is Row {
  if (row === undefined) throw storeRefused("the client returned no row, where the server always has one");
  const refuse = (setting: string, rule: string) => storeRefused(saidOf(setting, rule, String(row[setting])));
  if (!isOn(row["autocommit"]))
    throw refuse("autocommit", "must be 1\nA rollback takes back what was handed out. Give the store its own pool.");
  if (isOn(row["in_transaction"])) throw storeRefused(TRANSACTION_RULE);
  if (isOn(row["read_only"])) throw refuse("read_only", `must be OFF\n${READ_ONLY_RULE}`);
  const flush = String(row["flush_log"]);
  if (flush !== "1" && flush !== "3")
    throw storeRefused(
      `innodb_flush_log_at_trx_commit is ${flush} and must be 1\nOtherwise a crash takes back what was handed out last, and IDs and numbers repeat. SET GLOBAL innodb_flush_log_at_trx_commit = 1, and in the configuration of the server.`,
    );
  if (binlog !== UNSYNCED && isOn(row["log_bin"]) && String(row["sync_binlog"]) !== "1")
    throw refuse(
      "sync_binlog",
      `must be 1 with the binary log on\nOtherwise a crash of the host takes back what was handed out last, and IDs and numbers repeat. SET GLOBAL sync_binlog = 1, and in the configuration of the server${
        binlog === undefined ? "" : `, or pass the option binlog: "${UNSYNCED}"`
      }.`,
    );
  if (isOn(row["log_bin"]) && row["binlog_format"] === "STATEMENT")
    throw refuse(
      "binlog_format",
      "must be ROW or MIXED\nOtherwise a replica compares its own incarnation, and lacks what was handed out.",
    );
  if (isOn(row["galera"]))
    throw storeRefused(
      "wsrep_on is 1, and a Galera cluster is not supported\nTwo of its nodes can be written to at once.",
    );
}

/**
 * Refuses a table of another engine than InnoDB, and a counter of another type than bigint: without strict mode, the server writes its
 * largest value in place of a larger one, without a word. `counterFacts` reads what is looked at.
 */
export function checkCounter(row: Row, table: string, column: string, advice = ""): void {
  const { engine, counter_type: type } = row;
  if (engine === null)
    throw storeRefused(
      `${table} is no table that can be looked at in information_schema.tables\nIt must be a table of InnoDB, and no view or temporary table.`,
    );
  if (String(engine).toLowerCase() !== "innodb")
    throw storeRefused(
      `the table ${table} has the engine ${String(engine)}, and must be InnoDB\nOthers lose numbers in a crash, and have no transactions. ` +
        `${advice}Run ALTER TABLE ${table} ENGINE = InnoDB.`,
    );
  if (String(type).toLowerCase() !== "bigint")
    throw storeRefused(
      `the column ${column} of the table ${table} has the type ${String(type)}, and must be bigint\nNumbers repeat when another type has ` +
        `no more room. Change its type by ALTER TABLE ${table} MODIFY ${column} bigint NOT NULL, with the DEFAULT that it has.`,
    );
}

export const READ_ONLY_RULE = "This is a replica, or a server that takes no writes. Connect to the primary.";

/** So far `NOW` and `SYSDATE` may lie apart. A fence has a margin of five seconds. */
export const MOVED_US = 1_000_000;
export const MOVED_RULE =
  "the clock of the session is moved by SET timestamp, and fences would not cover what was granted\nSET timestamp = DEFAULT, or give the store its own pool.";

/** The incarnation in a row, which must have a value: two servers without one could not be told apart. */
export function incarnationOf(row: Row): string {
  const value = row["incarnation"];
  if (typeof value !== "string" || value === "") throw storeRefused(NO_INCARNATION);
  return value;
}
