/**
 * The database of the tables: runs statements through the client of the user, with values by their names. A failure becomes an error that
 * says what to do; one after which nothing took place is repeated, or answered as a comparison that failed.
 */
import { monotonicClock } from "../../base/clock.js";
import { FrazilError } from "../../base/errors.js";
import { untilAborted } from "../../base/wait.js";
import { wholeOf } from "../kit/answer-rows.js";
import { storeRefused, TRANSACTION_RULE } from "../kit/errors.js";
import { MAX_ATTEMPTS, sleepAfterRace } from "../kit/races.js";
import {
  isInTransaction,
  type MySqlClient,
  type Query,
  queryOf,
  type Row,
  resultOf,
  rowsOf,
  type Value,
} from "./client.js";
import { CONFLICTS, causeOf, errorOf, NO_SUCH_TABLE, numberOf } from "./errors.js";
import type { OldTable } from "./old-tables.js";
import { completion, type MySqlStoreOptions } from "./options.js";
import { MOVED_RULE, MOVED_US } from "./server.js";
import { COUNT_TABLES } from "./statements.js";

/** The values of a statement. */
export type Values = Readonly<Record<string, Value>>;

/** A text of the user as it is sent: no mode of the server and no character set of the connection changes hexadecimal digits. */
export const hexOf = <T extends string | null>(text: T): T =>
  (text === null ? null : Buffer.from(text, "utf8").toString("hex")) as T;

/** Runs statements. */
export class MySqlDatabase {
  readonly #query: Query;
  readonly #complete: (statement: string) => string;
  /** By scope, for errors. */
  readonly #oldTables: ReadonlyMap<string, OldTable>;

  /** `oldTables`: of a store of leases. */
  constructor(client: MySqlClient, options: MySqlStoreOptions, oldTables?: ReadonlyMap<string, OldTable>) {
    this.#query = queryOf(client);
    this.#complete = completion(options, oldTables !== undefined);
    this.#oldTables = oldTables ?? new Map();
  }

  /** Runs a statement that reads. Returns its rows, or undefined if the tables are missing. */
  async read(statement: string, values: Values, signal: AbortSignal | undefined): Promise<readonly Row[] | undefined> {
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
        if (number === NO_SUCH_TABLE && (await this.#lacksTables(statement, signal))) return undefined;
        if (!CONFLICTS.includes(number) || attempt === MAX_ATTEMPTS) throw error;
        await sleepAfterRace(attempt, signal);
      }
    }
  }

  /** Whether a table of the store that a statement names is missing, and not one of an expression of the user or of a scope. */
  async #lacksTables(statement: string, signal: AbortSignal | undefined): Promise<boolean> {
    const tables = new Set(statement.match(/(?<=\{)(scopes|leases|segments)(?=\})/g));
    if (tables.size === 0) return false;
    const names = [...tables].map((table) => `'frazil_${table}'`).join(", ");
    const [row] = rowsOf(await this.#ask(this.#complete(COUNT_TABLES.replace("{names}", names)), [], signal));
    return wholeOf("found", row?.["found"]) < tables.size;
  }

  /** Runs a statement that writes if a condition holds. Returns whether it did: if not, or if it met another, all is as it was. */
  async write(statement: string, values: Values, signal: AbortSignal | undefined): Promise<boolean> {
    try {
      const result = resultOf(await this.#ask(...this.#bound(statement, values), signal)) as Row | undefined;
      const affected = wholeOf("affectedRows", result?.["affectedRows"]);
      if (isInTransaction(result)) throw storeRefused(TRANSACTION_RULE);
      return affected > 0;
    } catch (error) {
      if (CONFLICTS.includes(numberOf(causeOf(error)))) return false;
      throw error;
    }
  }

  /** Runs a statement that defines a table. */
  async define(statement: string): Promise<void> {
    await this.#ask(this.#complete(statement), [], undefined);
  }

  /** A statement with `?` for its values, in their order, and with the tables and the incarnation. */
  #bound(statement: string, values: Values): [string, Value[]] {
    const bound: Value[] = [];
    const text = statement.replace(/:([a-z]\w*)/gi, (_, name: string) => {
      bound.push(values[name] as Value);
      return "?";
    });
    return [this.#complete(text), bound];
  }

  async #ask(text: string, values: Value[], signal: AbortSignal | undefined): Promise<unknown> {
    signal?.throwIfAborted();
    try {
      return await untilAborted((async () => this.#query(text, values, signal))(), signal);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw FrazilError.is(error) ? error : errorOf(error, text, this.#complete, this.#oldTables);
    }
  }
}
