/**
 * Segments from the tables of other generators, as they are, beside running servers of theirs: `leaf_alloc` of Meituan's Leaf,
 * `tiny_id_info` of Didi's Tinyid, `cosid` of CosId.
 *
 * Each allocation is one read and one `UPDATE` that compares what was read, so it moves the counter up from where the others left
 * it, and they move it up from where this left it. What these tables cannot do: tell a retry from another attempt, so an answer that
 * was lost is a range that nobody uses; and tell that a failover lost an allocation, so numbers repeat then, as they do with the
 * generator itself.
 *
 * Which numbers an allocation has was read in the sources: Leaf's `SegmentIDGenImpl` hands out `[max_id - step, max_id)` after its
 * update, Tinyid's `SegmentId` and CosId's `IdSegment` the numbers up to and including the new value.
 */
import { configError, LeaseError } from "../errors.js";
import { MAX_ATTEMPTS, pause, storeRefused, storeUnavailable } from "./answers.js";
import { checkGiven, optionError } from "./given.js";
import type { MySqlClient, Row } from "./mysql-client.js";
import { MySqlDatabase } from "./mysql-database.js";
import { checkServer } from "./mysql-server.js";
import { COMMITS, SETTINGS } from "./mysql-statements.js";
import { bigintOf, DEFAULT_STEP, MAX_NUMBER } from "./segment-rules.js";
import type { AllocateRequest, Allocation, SegmentStore } from "./segment-store.js";
import { checkAllocate } from "./segments.js";

/** The options of a store on the table of another generator. */
export interface OldSegmentsOptions {
  /** The database of the table. Default: the one of the connection. */
  readonly database?: string;
  /** The name of the table. Default: that of the generator. */
  readonly table?: string;
}

const TABLE_RULE = "must be the name of a table: a letter or _, then at most 63 letters, digits, _, $ or -";
const TAG_RULE = "must have only letters, digits, blanks and _ . @ : # / + - in the table of another generator";

/** What a row says: the value of the counter, the range above it, and the value after that range. */
interface Range {
  readonly seen: bigint;
  readonly first: bigint;
  readonly count: number;
  readonly stride: number;
  readonly next: bigint;
  /** In numbers. */
  readonly step: number | undefined;
}

/** One kind of table. */
interface OldTable {
  readonly name: string;
  readonly table: string;
  /** The column of the tag, and that of the counter. */
  readonly tag: string;
  readonly counter: string;
  /** Other columns that are read. */
  readonly columns: string;
  /** What is set besides the counter, and compared besides it. */
  readonly set: string;
  readonly same: string;
  /** How to make a row. */
  readonly insert: string;
  rangeOf(row: Row, count: number | undefined): Range;
}

/** A column as a whole number from `min` on. */
function wholeIn(row: Row, column: string, min: number, max = Number.MAX_SAFE_INTEGER): number {
  const value = row[column];
  const number = Number(value);
  if (value === null || !Number.isSafeInteger(number) || number < min || number > max)
    throw storeRefused(`${column} is ${String(value)} in the row: must be a whole number from ${min} to ${max}`);
  return number;
}

/** Leaf: `max_id` is the next number, and `step` how many numbers a range has at least. */
const LEAF: OldTable = {
  name: "Leaf",
  table: "leaf_alloc",
  tag: "biz_tag",
  counter: "max_id",
  columns: "step",
  set: "",
  same: "",
  insert: "INSERT INTO leaf_alloc (biz_tag, max_id, step, description) VALUES ('…', 1, 2000, '…')",
  rangeOf(row, wanted) {
    const seen = bigintOf("max_id", row["max_id"]);
    const step = wholeIn(row, "step", 1);
    const count = wanted ?? step;
    return { seen, first: seen, count, stride: 1, next: seen + BigInt(count), step };
  },
};

/**
 * Tinyid: `max_id` is the last number that was taken, `step` a distance and no count. The numbers of a database are those with
 * `number % delta = remainder`.
 */
const TINYID: OldTable = {
  name: "Tinyid",
  table: "tiny_id_info",
  tag: "biz_type",
  counter: "max_id",
  columns: "step, delta, remainder, version",
  set: ", version = version + 1, update_time = now()",
  same: " AND version = CAST(:version AS SIGNED)",
  insert:
    "INSERT INTO tiny_id_info (biz_type, begin_id, max_id, step, delta, remainder, create_time, update_time, version) VALUES ('…', 1, 1, 100000, 1, 0, now(), now(), 1)",
  rangeOf(row, wanted) {
    const seen = bigintOf("max_id", row["max_id"]);
    const stride = wholeIn(row, "delta", 1, 2 ** 31 - 1);
    const remainder = BigInt(row["remainder"] === null ? 0 : wholeIn(row, "remainder", 0, stride - 1));
    const distance = row["step"] === null ? 0 : wholeIn(row, "step", 0);
    const step = Math.floor(distance / stride) || undefined;
    const count = wanted ?? step ?? DEFAULT_STEP;
    const delta = BigInt(stride);
    const first = seen + 1n + ((((remainder - seen - 1n) % delta) + delta) % delta);
    return { seen, first, count, stride, next: seen + BigInt(count) * delta, step };
  },
};

/** CosId: `last_max_id` is the last number that was taken. The step is not in the table. */
const COSID: OldTable = {
  name: "CosId",
  table: "cosid",
  tag: "name",
  counter: "last_max_id",
  columns: "last_fetch_time",
  set: ", last_fetch_time = unix_timestamp()",
  same: "",
  insert: "INSERT INTO cosid (name, last_max_id, last_fetch_time) VALUES ('…', 0, unix_timestamp())",
  rangeOf(row, wanted) {
    const seen = bigintOf("last_max_id", row["last_max_id"]);
    const count = wanted ?? DEFAULT_STEP;
    return { seen, first: seen + 1n, count, stride: 1, next: seen + BigInt(count), step: undefined };
  },
};

/** A store of segments on the table of another generator. */
class OldSegments implements SegmentStore {
  readonly name: string;
  readonly #form: OldTable;
  readonly #table: string;
  readonly #database: MySqlDatabase;

  /** @internal */
  constructor(form: OldTable, client: MySqlClient, options: OldSegmentsOptions) {
    const { table = form.table, ...rest } = checkGiven(options, "database, table") as OldSegmentsOptions;
    if (typeof table !== "string" || !/^[a-z_][\w$-]{0,63}$/i.test(table))
      throw optionError("table", table, TABLE_RULE);
    this.name = form.name;
    this.#form = form;
    this.#table = `{prefix}\`${table}\``;
    this.#database = new MySqlDatabase(client, rest, new Map());
  }

  /**
   * Allocates a range of the counter. Invariant: the counter moves up from the value that was read, in one statement. No clock, and
   * no incarnation: the table has no room for one.
   */
  async allocate(request: AllocateRequest): Promise<Allocation> {
    checkAllocate(request);
    const { tag, count, above, attempt, signal } = request;
    if (!/^[\w .@:#/+-]+$/.test(tag)) throw configError("INVALID_ARGUMENT", "tag", tag, TAG_RULE);
    const { tag: column, counter, columns, set, same } = this.#form;
    const read = `SELECT ${SETTINGS}, CAST(r.${counter} AS CHAR) AS ${counter}, ${columns.replace(/\w+/g, "r.$& AS $&")}
FROM (SELECT 1 AS one) o LEFT JOIN ${this.#table} r ON r.${column} = :tag LIMIT 1`;
    const write = `UPDATE ${this.#table} SET ${counter} = CAST(:next AS SIGNED)${set}
WHERE ${column} = :tag AND ${counter} = CAST(:seen AS SIGNED)${same} AND ${COMMITS}`;
    for (let tries = 1; tries <= 3 * MAX_ATTEMPTS; tries++) {
      const rows = await this.#database.read(read, { tag }, signal);
      const row = rows?.[0];
      checkServer(row);
      if (row[counter] === null) throw this.#missing(tag);
      const { seen, first, stride, next, step, count: granted } = this.#form.rangeOf(row, count);
      if (first < 0n || next > MAX_NUMBER)
        throw storeRefused(
          `${counter} is ${seen} in the row of ${tag}: ${granted} numbers above it are not from 0 to 2^63 - 2`,
        );
      if (first < above) throw storeRefused(this.#wentBack(tag, seen, above));
      const version = String(row["version"] ?? 0);
      if (await this.#database.write(write, { tag, next: `${next}`, seen: `${seen}`, version }, signal))
        return { attempt, first, count: granted, stride, ...(step !== undefined && { step }) };
      await pause(tries, signal);
    }
    throw storeUnavailable(`others moved ${counter} of ${tag} first, ${3 * MAX_ATTEMPTS} times`);
  }

  #wentBack(tag: string, seen: bigint, above: bigint): string {
    const { counter, table, tag: column } = this.#form;
    return (
      `${counter} of ${tag} is ${seen}, and numbers up to ${above - 1n} were handed out already: the table was restored or edited, or a ` +
      `failover lost allocations. Stop all that allocate from it, and run UPDATE ${table} SET ${counter} = <above every number in use> ` +
      `WHERE ${column} = '${tag}'`
    );
  }

  #missing(tag: string): LeaseError {
    const { name, table, tag: column, insert } = this.#form;
    return new LeaseError(
      "STORE_NOT_INITIALISED",
      `the table ${table} of ${name} has no row with ${column} = ${JSON.stringify(tag)}. Check the database and the tag. If the tag is new, run once: ${insert}`,
      { field: "tag", value: tag },
    );
  }
}

/** Segments from the table `leaf_alloc` of Meituan's Leaf. The tag is its `biz_tag`, and the step its `step`. */
export class LeafSegments extends OldSegments {
  /** @throws {ConfigError} `INVALID_ARGUMENT` for a client that has no `query`; `INVALID_OPTION`. */
  constructor(client: MySqlClient, options: OldSegmentsOptions = {}) {
    super(LEAF, client, options);
  }
}

/** Segments from the table `tiny_id_info` of Didi's Tinyid. The tag is its `biz_type`; `delta` and `remainder` are kept. */
export class TinyidSegments extends OldSegments {
  /** @throws {ConfigError} `INVALID_ARGUMENT` for a client that has no `query`; `INVALID_OPTION`. */
  constructor(client: MySqlClient, options: OldSegmentsOptions = {}) {
    super(TINYID, client, options);
  }
}

/** Segments from the table `cosid` of CosId. The tag is its `name`: `namespace.name`. */
export class CosIdSegments extends OldSegments {
  /** @throws {ConfigError} `INVALID_ARGUMENT` for a client that has no `query`; `INVALID_OPTION`. */
  constructor(client: MySqlClient, options: OldSegmentsOptions = {}) {
    super(COSID, client, options);
  }
}
