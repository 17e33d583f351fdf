/**
 * Segments from the tables of other generators, as they are, beside running servers of theirs: `leaf_alloc` of Meituan's Leaf,
 * `tiny_id_info` of Didi's Tinyid, `cosid` of CosId (`docs/guides/migrating/segments.md`).
 *
 * - **One `UPDATE` allocates**: it compares the counter with what was read, and moves it up. So both generations find the counter
 *   where the other left it, whatever the isolation level is.
 * - **The numbers are the old generator's**: Leaf's `max_id` is the next number, that of Tinyid and CosId the last one that was taken;
 *   `delta` and `remainder` of Tinyid are kept.
 * - **A row that the old generator would repeat numbers by is refused**, and nothing is written.
 *
 * These tables have no room for the attempt and for the incarnation of the server. So a lost answer leaves an unused range, and a failover
 * that loses an allocation repeats its numbers, as with the old generator alone. `failoverSkip` has no effect.
 *
 * Sources: `SegmentIDGenImpl` of Leaf, `DbSegmentIdServiceImpl` and `SegmentId` of Tinyid, `JdbcIdSegmentDistributor` and `IdSegment`
 * of CosId.
 */
import { configError, LeaseError, refusal } from "../../base/errors.js";
import { checkGiven, optionError } from "../kit/argument-errors.js";
import { messageOf, storeRefused, storeUnavailable } from "../kit/errors.js";
import { isPlainTag } from "../kit/limits.js";
import { MAX_ALLOCATE_TRIES, sleepAfterRace } from "../kit/races.js";
import { inTurn } from "../kit/segment/concurrency-limit.js";
import { checkAllocate } from "../kit/segment/requests.js";
import { MAX_COUNTER, stepWithin } from "../kit/segment/rules.js";
import type { AllocateRequest, Allocation, SegmentStore } from "../segment-store.js";
import type { MySqlClient, Row } from "./client.js";
import { MySqlDatabase } from "./database.js";
import { causeOf, NO_RIGHT, NO_SUCH_COLUMN, NO_SUCH_TABLE, numberOf } from "./errors.js";
import { type Binlog, checkCounter, checkServer, UNSYNCED } from "./server.js";
import { COMMITS, counterFacts, SETTINGS } from "./statements.js";

/** The options of a store on the table of another generator. */
export interface OldSegmentsOptions {
  /** The database of the table. Default: that of the connection. */
  readonly database?: string;
  /** The name of the table. Default: `leaf_alloc`, `tiny_id_info` or `cosid`. */
  readonly table?: string;
  /**
   * Whether the binary log is on the disk with each commit.
   *
   * - `"synced"` (default): a server with a binary log and `sync_binlog` other than 1 is refused.
   * - `"unsynced-accepting-repeats-after-crash"`: it is not. If its host crashes, InnoDB rolls back what the binary log lacks, and numbers
   *   repeat, as they do with the other generator.
   */
  readonly binlog?: "synced" | "unsynced-accepting-repeats-after-crash";
}

const BINLOG_RULE = `must be "synced" or "${UNSYNCED}"`;
const TABLE_RULE = "must be the name of a table, a letter or _ and then at most 63 letters, digits, _, $ or -";
// Nothing that a client, in some mode of the server, would escape in another way than the server reads it.
const TAG_RULE =
  "must have only letters and digits of ASCII, spaces and _ . @ : # / + - in the table of another generator";

const MAX_INT = 2n ** 31n - 1n;

/** The range above the counter, and the value of the counter after it. */
interface Range {
  readonly first: bigint;
  readonly count: number;
  readonly stride: number;
  readonly next: bigint;
  /** The step of the row, in numbers, if it has one. */
  readonly step?: number;
}

/** What is known of one generator. `{table}` is its table in a statement. */
interface OldGenerator {
  readonly name: string;
  readonly table: string;
  /** The columns of the tag and of the counter. */
  readonly tag: string;
  readonly counter: string;
  /** Whether the counter is the last number that was taken (1), or the next one (0). */
  readonly taken: 0 | 1;
  readonly read: string;
  readonly allocate: string;
  /** The columns of a new row and their values, besides the tag and the counter. */
  readonly insert: readonly [string, string];
  rangeOf(row: OldRow, request: AllocateRequest): Range;
}

/**
 * Reads the row of a tag, and the server, also without one. Numbers come as digits, since a client may round a BIGINT. Two rows are
 * read where the table has lost its unique key, as every row that the `UPDATE` would meet. No clock.
 */
const reading = (tag: string, columns: readonly string[]): string => `SELECT ${SETTINGS}, {database} AS place,
  ${counterFacts("{name}", columns[0] as string)},
  r.${tag} AS tag, ${columns.map((column) => `CAST(r.${column} AS CHAR) AS ${column}`).join(", ")}
FROM (SELECT 1 AS one) o LEFT JOIN {table} r ON r.${tag} = :tag LIMIT 2`;

/** Leaf. A range has `step` numbers at least; a server that is busy takes more. */
const LEAF: OldGenerator = {
  name: "Leaf",
  table: "leaf_alloc",
  tag: "biz_tag",
  counter: "max_id",
  taken: 0,
  read: reading("biz_tag", ["max_id", "step"]),
  // Invariant: the counter moves up from the value that was read. Clock: that of the server, in `update_time` by the table.
  allocate: `UPDATE {table} SET max_id = CAST(:next AS SIGNED)
WHERE biz_tag = :tag AND max_id = CAST(:max_id AS SIGNED) AND ${COMMITS}`,
  insert: ["step, description", "2000, ''"],
  rangeOf(row, { count: wanted }) {
    const first = row.counter();
    const step = Number(row.whole("step", 1n, MAX_INT));
    const count = wanted ?? step;
    return { first, count, stride: 1, next: first + BigInt(count), step };
  },
};

/**
 * Tinyid. The numbers of a database are those with `number % delta = remainder`, and `step` is a distance: a range has `step / delta`
 * numbers. A server of Tinyid reads `delta` NULL as 0 and fails; where `remainder` is `delta` or more, none of its numbers has it.
 */
const TINYID: OldGenerator = {
  name: "Tinyid",
  table: "tiny_id_info",
  tag: "biz_type",
  counter: "max_id",
  taken: 1,
  read: reading("biz_type", ["max_id", "step", "delta", "remainder", "version"]),
  // Invariant: as above, and the row still has the delta and the remainder that the range was found with. Clock: that of the server.
  allocate: `UPDATE {table} SET max_id = CAST(:next AS SIGNED), version = version + 1, update_time = now()
WHERE biz_type = :tag AND max_id = CAST(:max_id AS SIGNED) AND version = CAST(:version AS SIGNED)
  AND delta = CAST(:delta AS SIGNED) AND remainder <=> CAST(:remainder AS SIGNED) AND ${COMMITS}`,
  insert: ["begin_id, step, delta, remainder, create_time, update_time, version", "1, 100000, 1, 0, now(), now(), 1"],
  rangeOf(row, { count: wanted }) {
    const taken = row.counter();
    const delta = row.whole("delta", 1n, MAX_INT);
    const remainder = row.isNull("remainder")
      ? 0n
      : row.whole("remainder", 0n, delta - 1n, `0 to ${delta - 1n}, below delta`);
    const distance = row.whole("step", 1n, MAX_INT);
    row.whole("version", 0n, MAX_COUNTER - 1n);
    const step = distance < delta ? 1 : Number(distance / delta);
    const count = wanted ?? step;
    // The lowest number above `taken` that has the remainder.
    const first = taken + 1n + ((((remainder - taken - 1n) % delta) + delta) % delta);
    return { first, count, stride: Number(delta), next: taken + BigInt(count) * delta, step };
  },
};

/** CosId. The step is a setting of each process, and not in the table. */
const COSID: OldGenerator = {
  name: "CosId",
  table: "cosid",
  tag: "name",
  counter: "last_max_id",
  taken: 1,
  read: reading("name", ["last_max_id"]),
  // Invariant: as that of Leaf. Clock: that of the server.
  allocate: `UPDATE {table} SET last_max_id = CAST(:next AS SIGNED), last_fetch_time = unix_timestamp()
WHERE name = :tag AND last_max_id = CAST(:last_max_id AS SIGNED) AND ${COMMITS}`,
  insert: ["last_fetch_time", "unix_timestamp()"],
  rangeOf(row, request) {
    const taken = row.counter();
    const { count = stepWithin(request) } = request;
    return { first: taken + 1n, count, stride: 1, next: taken + BigInt(count) };
  },
};

/** A name in a statement for people to run. */
const quoted = (name: string): string => (/^\w+$/.test(name) ? name : `\`${name}\``);

/** The row of a tag as it was read. */
class OldRow {
  readonly #generator: OldGenerator;
  readonly #columns: Row;
  /** The table with its database, and the condition that finds the row, for errors. */
  readonly table: string;
  readonly where: string;

  constructor(generator: OldGenerator, columns: Row, table: string, tag: string) {
    this.#generator = generator;
    this.#columns = columns;
    this.table = [String(columns["place"]), table].map(quoted).join(".");
    this.where = `${generator.tag} = '${tag}'`;
  }

  /** Whether the table has no such row. */
  get isMissing(): boolean {
    return this.#columns["tag"] === null;
  }

  /** What the `UPDATE` compares. */
  get seen(): Record<string, string | null> {
    return this.#columns as Record<string, string | null>;
  }

  isNull(column: string): boolean {
    return this.#columns[column] === null;
  }

  /** The counter. @throws {LeaseError} `STORE_REFUSED` */
  counter(): bigint {
    const { counter } = this.#generator;
    const text = this.#columns[counter];
    if (typeof text === "string" && /^\d+$/.test(text) && BigInt(text) >= MAX_COUNTER) throw this.usedUp();
    return this.whole(counter, 0n, MAX_COUNTER - 1n);
  }

  /** A column as a whole number. @throws {LeaseError} `STORE_REFUSED` */
  whole(column: string, min: bigint, max: bigint, range = `${min} to ${max}`): bigint {
    const text = this.#columns[column];
    const number = typeof text === "string" && /^-?\d+$/.test(text) ? BigInt(text) : -1n;
    if (number < min || number > max) throw this.refused(column, `must be an integer from ${range}`);
    return number;
  }

  /** The counter has no room for the range. A counter that is closed has the largest value. */
  usedUp(): LeaseError {
    return this.refused(
      this.#generator.counter,
      "must have room for a range below 2^63 - 1",
      "The numbers are used up, or the counter was closed when the tag moved to another store. Never lower it, since numbers would repeat: use the store that the tag is in, or another tag.",
    );
  }

  /** `STORE_REFUSED` for a column: the table, the row, the value, the rule, and what to do. */
  refused(
    column: string,
    rule: string,
    remedy = `To mend it: UPDATE ${this.table} SET ${column} = … WHERE ${this.where}.`,
  ): LeaseError {
    const value = this.#columns[column];
    const shown = `${value === null ? "NULL" : String(value)} in the row ${this.where} of ${this.table}`;
    return refusal(LeaseError, "STORE_REFUSED", column, value, `${rule}\n${remedy}`, 0, 0, undefined, shown);
  }
}

/** A store of segments on the table of another generator. */
class OldSegments implements SegmentStore {
  readonly name: string;
  readonly #generator: OldGenerator;
  readonly #table: string;
  readonly #database: MySqlDatabase;
  readonly #binlog: Binlog;

  /** @internal */
  constructor(generator: OldGenerator, client: MySqlClient, options: OldSegmentsOptions) {
    const known = checkGiven(options, "database, table, binlog") as OldSegmentsOptions;
    const { table = generator.table, binlog = "synced", ...rest } = known;
    if (typeof table !== "string" || !/^[a-z_][\w$-]{0,63}$/i.test(table))
      throw optionError("table", table, TABLE_RULE);
    if (binlog !== "synced" && binlog !== UNSYNCED) throw optionError("binlog", binlog, BINLOG_RULE);
    this.#binlog = binlog;
    this.name = generator.name;
    this.#generator = generator;
    this.#table = table;
    this.#database = new MySqlDatabase(client, rest);
  }

  /** Allocates a range: reads the row, and moves its counter up, if it is as it was read. On conflict, it reads again. */
  async allocate(request: AllocateRequest): Promise<Allocation> {
    checkAllocate(request);
    const { tag, signal } = request;
    if (!isPlainTag(tag)) throw configError("INVALID_ARGUMENT", "tag", tag, TAG_RULE);
    return inTurn(this, signal, () => this.#allocate(request));
  }

  async #allocate(request: AllocateRequest): Promise<Allocation> {
    const { tag, above, attempt, signal } = request;
    const { counter, read, allocate, rangeOf } = this.#generator;
    for (let tries = 1; tries <= MAX_ALLOCATE_TRIES; tries++) {
      const row = await this.#read(read, request);
      const { next, step, ...range } = rangeOf(row, request);
      if (range.first + BigInt(range.count - 1) * BigInt(range.stride) >= MAX_COUNTER || next > MAX_COUNTER)
        throw row.usedUp();
      if (range.first < above) throw this.#wentBack(row, above);
      const values = { ...row.seen, tag, next: `${next}` };
      if (await this.#explained(this.#database.write(this.#complete(allocate), values, signal)))
        return { attempt, ...range, ...(step !== undefined && { step }) };
      await sleepAfterRace(tries, signal);
    }
    throw storeUnavailable(
      `others moved ${counter} of the tag ${JSON.stringify(tag)} in the table ${this.#table} first, ${MAX_ALLOCATE_TRIES} times`,
    );
  }

  async #read(statement: string, { tag, above, signal }: AllocateRequest): Promise<OldRow> {
    const rows = (await this.#explained(this.#database.read(this.#complete(statement), { tag }, signal))) ?? [];
    const [columns] = rows;
    checkServer(columns, this.#binlog);
    const row = new OldRow(this.#generator, columns, this.#table, tag);
    if (row.isMissing) throw this.#missing(row, tag, above);
    if (rows.length > 1)
      throw storeRefused(
        `the table ${row.table} has more than one row with ${row.where}\nIt must have one, and a unique key on ${this.#generator.tag}.`,
      );
    checkCounter(columns, row.table, this.#generator.counter, `Stop ${this.name} before. `);
    return row;
  }

  /** Puts the table into a statement. By functions, since a name may have a `$`. */
  #complete(statement: string): string {
    return statement.replaceAll("{table}", () => `{prefix}\`${this.#table}\``).replaceAll("{name}", () => this.#table);
  }

  /** Adds what to do to an error of the server that is about the table. */
  async #explained<T>(result: Promise<T>): Promise<T> {
    return result.catch((error: unknown) => {
      const cause = causeOf(error);
      const number = numberOf(cause);
      let advice: string | undefined;
      if (number === NO_SUCH_TABLE)
        advice = "Check the database in the settings of the client, and the options database and table.";
      if (number === NO_SUCH_COLUMN)
        advice = `${this.#table} is not a table as ${this.name} makes it. Check the database, and the option table.`;
      if (NO_RIGHT.includes(number))
        advice = `The user lacks a right. Programs need: GRANT SELECT, UPDATE ON ${quoted(this.#table)} TO your_role;`;
      if (advice === undefined) throw error;
      throw storeRefused(`the server answered ${number} (${messageOf(cause)})\n${advice}`, cause);
    });
  }

  #wentBack(row: OldRow, above: bigint): LeaseError {
    const { counter, taken } = this.#generator;
    return row.refused(
      counter,
      `must be ${above - BigInt(taken)} or more, since this process has had the numbers up to ${above - 1n}`,
      "The table was restored or changed by hand, or a failover lost allocations. " +
        `Other programs repeat numbers: stop all that allocate from the row. Then find the largest number in use, and run UPDATE ${row.table} ` +
        `SET ${counter} = <above it> WHERE ${row.where}.`,
    );
  }

  #missing(row: OldRow, tag: string, above: bigint): LeaseError {
    const { counter, insert, taken } = this.#generator;
    const [columns, values] = insert;
    const missing = `the table ${row.table} of ${this.name} has no row with ${row.where}\n`;
    const remedy =
      above > 0n
        ? `It is not new: this process has had numbers up to ${above - 1n}. If the tag was moved to another store, use that one, and never ` +
          `make the row again. If the row was deleted, restore it with a ${counter} above every number that was handed out.`
        : "Check that this is the database of the other programs, and the tag. If the tag is new, run once: " +
          `INSERT INTO ${row.table} (${this.#generator.tag}, ${counter}, ${columns}) VALUES ('${tag}', ${1 - taken}, ${values}). ` +
          `If its row was deleted, insert it with a ${counter} above every number that was handed out, unless it moved to another store.`;
    return new LeaseError("STORE_NOT_INITIALISED", missing + remedy, { field: "tag", value: tag });
  }
}

/**
 * Segments from the table `leaf_alloc` of Meituan's Leaf, beside its servers. The tag is a `biz_tag`, and the step that of its row.
 *
 * ```js
 * import { Segment } from "frazil/segment";
 * import { LeafSegments } from "frazil/stores/mysql";
 *
 * const orders = new Segment(new LeafSegments(pool), { tag: "orders" });
 * ```
 */
export class LeafSegments extends OldSegments {
  /**
   * Checks what it is given. It runs no statement.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for a client that has no `query`; `INVALID_OPTION`.
   */
  constructor(client: MySqlClient, options: OldSegmentsOptions = {}) {
    super(LEAF, client, options);
  }
}

/**
 * Segments from the table `tiny_id_info` of Didi's Tinyid, beside its servers. The tag is a `biz_type`, and a range has `step / delta`
 * numbers, all with `number % delta = remainder`.
 */
export class TinyidSegments extends OldSegments {
  /**
   * Checks what it is given. It runs no statement.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for a client that has no `query`; `INVALID_OPTION`.
   */
  constructor(client: MySqlClient, options: OldSegmentsOptions = {}) {
    super(TINYID, client, options);
  }
}

/**
 * Segments from the table `cosid` of CosId, beside its processes. The tag is a `name`: `namespace.name`. The table has no step: give
 * one to the segment, or a range has 1000 numbers.
 */
export class CosIdSegments extends OldSegments {
  /**
   * Checks what it is given. It runs no statement.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for a client that has no `query`; `INVALID_OPTION`.
   */
  constructor(client: MySqlClient, options: OldSegmentsOptions = {}) {
    super(COSID, client, options);
  }
}
