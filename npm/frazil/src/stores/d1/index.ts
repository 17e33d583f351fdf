/**
 * Leases and segments in a D1 database of Cloudflare, from a Worker that has a binding to it.
 *
 * ```js
 * import { D1Store } from "frazil/stores/d1";
 *
 * const store = new D1Store(env.DB); // in a request; it is cheap
 * ```
 *
 * - **Reads are one batch**, which is a transaction, and read the clock of the database. **A write is one statement** that compares
 *   the row and the record with what was read: D1 has no transaction that a program can decide in.
 * - **The primary answers**: a session, which may read from a replica, is refused.
 * - **No incarnation**: Time Travel is not visible. Call `fence()` after it.
 */
import type { FrazilError } from "../../base/errors.js";
import { fromOutside } from "../../base/outside-text.js";
import { withoutValue } from "../../base/value-text.js";
import { untilAborted } from "../../base/wait.js";
import { wholeOf } from "../kit/answer-rows.js";
import { described } from "../kit/argument-errors.js";
import { hintFor } from "../kit/clients.js";
import { notInitialised, storeRefused, storeUnavailable } from "../kit/errors.js";
import type { Found } from "../kit/found-record.js";
import {
  type AcquireView,
  type Choice,
  CompareAndSetStore,
  DRAWN_FROM,
  type LeaseTable,
  type RowView,
  type ScopeView,
} from "../kit/lease/compare-and-set.js";
import { fencedScope, recordOf, type ScopeRecord } from "../kit/lease/requests.js";
import type { LeaseRow, Scope } from "../kit/lease/rules.js";
import { WORKERS_WINDOW_MAX_MS } from "../kit/limits.js";
import { type DdlTags, printedTags } from "../kit/segment/requests.js";
import type { KeptRecord } from "../kit/segment/rules.js";
import { allocateAtOnce, makeTagIn, type TagTable, type TagView } from "../kit/segment/tag-table.js";
import {
  ANY,
  CLOCK,
  columnsOf,
  EARLIEST,
  earliestOf,
  freeAt,
  INIT,
  keptInRow,
  lacksTables,
  leaseOfRow,
  MAKE_TAG,
  OF_GRANT,
  OF_NODE,
  printed,
  RAISE,
  RECORD,
  type Row,
  raiseFence,
  scopeOfRow,
  TABLES,
  TABLES_SCRIPT,
  TAG,
  type Value,
  valuesOf,
  WRITE,
  WRITE_RENEWED,
  WRITE_TAG,
} from "../kit/tables.js";
import type { AcquireRequest, InitOptions } from "../lease-store.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../segment-store.js";

export type * from "../lease-store.js";
export type * from "../segment-store.js";

/** A prepared statement. */
export interface D1Statement {
  bind(...values: (string | number | null)[]): D1Statement;
}

/** The binding to the database: `env.DB`, a `D1Database` of `wrangler types` or of `@cloudflare/workers-types`. */
export interface D1Binding {
  prepare(query: string): object;
  batch(statements: never[]): Promise<readonly { readonly results: readonly unknown[] }[]>;
  /** Only a session has this, and it may read from a replica: it is refused. */
  readonly getBookmark?: never;
}

/** No restore is visible, so that a database has one incarnation for ever. */
const INCARNATION = "d1";

const NOW = `SELECT ${CLOCK} AS now_ms`;
/** More than others choose from: each read and each write is a call to another place. */
const FREE = freeAt(`(SELECT ${CLOCK})`, 4 * DRAWN_FROM);

/** Whether the record is as it was read. */
const SAME_RECORD = `EXISTS (SELECT 1 FROM frazil_scopes WHERE scope = ? AND fence_ms = ? AND incarnation = ?)`;

/** Invariant: the row and the record are as they were read. */
const IF_SAME = `AND until_ms = ? AND grant_id IS ? AND nonce IS ?
AND ${SAME_RECORD} RETURNING node`;
const REPLACE_ROW = `${WRITE} ${IF_SAME}`;
/** `acquire`. Invariant besides: a grant has one row, whichever of its requests comes first. */
const GRANT_ROW = REPLACE_ROW.replace(
  "RETURNING",
  "AND NOT EXISTS (SELECT 1 FROM frazil_leases AS l WHERE l.scope = ? AND l.grant_id = ?) RETURNING",
);
const REPLACE_RENEWED = `${WRITE_RENEWED} ${IF_SAME}`;

/** `acquire`: rows that were never granted, unless another client makes them. */
const MAKE_ROWS = `INSERT INTO frazil_leases (scope, node, from_ms, until_ms)
WITH RECURSIVE numbers (node) AS (SELECT ? UNION ALL SELECT node + 1 FROM numbers WHERE node < ?)
SELECT scope, numbers.node, 0, 0 FROM numbers, frazil_scopes WHERE scope = ? AND next_node = ?`;
const RAISE_MARK = `UPDATE frazil_scopes SET next_node = ? WHERE scope = ? AND next_node = ?`;

/** `ensure` and `fence`. Invariant: the record is as it was read. */
const REPLACE_SCOPE = `${RAISE} AND fence_ms = ? AND incarnation = ? RETURNING scope`;

/** `init`. A record, or rows without one, stay as they are. */
const INIT_IF_NEW = `${INIT}
WHERE NOT EXISTS (SELECT 1 FROM frazil_scopes WHERE scope = ?) AND NOT EXISTS (SELECT 1 FROM frazil_leases WHERE scope = ?)
RETURNING scope`;

/** `allocate`. Invariant: the record is as it was read. */
const REPLACE_TAG = `${WRITE_TAG} AND next_number = CAST(? AS INTEGER) AND incarnation = ? AND recent = ? RETURNING tag`;

/** `initSegment`. A record that is there stays. */
const MAKE_TAG_IF_NEW = `${MAKE_TAG} ON CONFLICT (tag) DO NOTHING RETURNING tag`;

const BINDING_RULE =
  'must be a binding to a D1 database\nPass env.DB, if the wrangler configuration has "d1_databases": [{ "binding": "DB", ' +
  '"database_name": "…", "database_id": "…" }].';
const SESSION_RULE =
  "must be the database itself, not a session of it (withSession)\nA session may read from a replica, which is behind.";
const PLACE = "the tables frazil_scopes and frazil_leases of the D1 database, which migrate() makes";
const TAG_PLACE = "the table frazil_segments of the D1 database, which migrate() makes";

/** The store, as errors without a store object name it. */
const NAMED = {
  name: "d1",
  migrate: true,
  /** No shell has the binding: wrangler runs SQL from one. */
  setUpBy(calls: string, flags: string, layout?: string): string {
    const given = layout === undefined ? flags : `${flags} --layout ${flagOf(layout)}`;
    return (
      `in a shell: npx frazil ddl d1 ${given} > frazil.sql && npx wrangler d1 execute NAME --remote --file frazil.sql. NAME is the ` +
      '"database_name" of the wrangler configuration; for wrangler dev write --local in the place of --remote. A route that only you ' +
      `can call may do the same: ${calls}`
    );
  },
};

/** The option `layout: …` as `npx frazil --layout` takes it: a name, or JSON. */
function flagOf(option: string): string {
  const [, name] = /^layout: "(.*)"$/.exec(option) ?? [];
  const [, fields] = /^layout: (\{.*)/.exec(option) ?? [];
  return name ?? (fields ? `'${fields.replace(/(\w+):/g, '"$1":')}'` : "NAME");
}

/** A statement with its values. */
type Bound = readonly [sql: string, ...values: Value[]];

/** The database: its batches, and its errors. */
class Database {
  readonly #binding: D1Binding;
  constructor(binding: D1Binding) {
    this.#binding = binding;
  }

  /** Runs statements as one transaction. Resolves to the rows of each; to undefined if the tables are missing. */
  async batch(statements: readonly Bound[], signal: AbortSignal | undefined): Promise<Row[][] | undefined> {
    signal?.throwIfAborted();
    const run = async () => {
      const bound = statements.map(([sql, ...values]) => {
        const statement = this.#binding.prepare(sql) as D1Statement;
        return values.length > 0 ? statement.bind(...values) : statement;
      });
      return this.#binding.batch(bound as never[]);
    };
    try {
      return (await untilAborted(run(), signal)).map(({ results }) => [...results] as Row[]);
    } catch (error) {
      if (signal?.aborted && error === signal.reason) throw error;
      const { message } = error as Error;
      if (lacksTables(message)) return undefined;
      throw errorOf(error, message);
    }
  }

  /** Runs a statement that writes. Resolves to whether it wrote a row; to undefined if the tables are missing. */
  async write(statement: Bound, signal?: AbortSignal): Promise<boolean | undefined> {
    const [rows] = (await this.batch([statement], signal)) ?? [];
    return rows && rows.length > 0;
  }
}

/** The values of `IF_SAME`, after the scope and the node id of the row. */
const comparedWith = (scope: string, view: ScopeView<Scope>, { node, untilMs, grant, nonce }: LeaseRow): Value[] => {
  const { fenceMs, incarnation } = view.scope;
  return [scope, node, untilMs, grant, nonce, scope, fenceMs, incarnation];
};

/** The rows of leases. */
class D1Leases implements LeaseTable<Scope, LeaseRow> {
  readonly #database: Database;
  readonly placeOf = (): string => PLACE;
  constructor(database: Database) {
    this.#database = database;
  }

  async readForAcquire(request: AcquireRequest): Promise<AcquireView<Scope, LeaseRow> | undefined> {
    const { scope, grant, node = -1, signal } = request;
    const found = await this.#read(scope, signal, [OF_GRANT, scope, grant], [FREE, scope, node], [EARLIEST, scope]);
    if (found === undefined) return undefined;
    const [mine = [], free = [], earliest = []] = found.rest;
    const { view } = found;
    return {
      ...view,
      mine: leaseOfRow(mine[0]),
      // The clock may have moved on within the batch.
      free: (free.map(leaseOfRow) as LeaseRow[]).filter(({ untilMs }) => untilMs <= view.moment.nowMs),
      earliestMs: earliestOf(earliest[0]),
    };
  }

  async readRow(
    scope: string,
    node: number,
    signal: AbortSignal | undefined,
  ): Promise<RowView<Scope, LeaseRow> | undefined> {
    const found = await this.#read(scope, signal, [OF_NODE, scope, node]);
    return found && { ...found.view, row: leaseOfRow(found.rest[0]?.[0]) };
  }

  async readScope(scope: string, signal: AbortSignal | undefined): Promise<ScopeView<Scope> | undefined> {
    return (await this.#read(scope, signal))?.view;
  }

  async replaceRow(
    scope: string,
    view: ScopeView<Scope>,
    seen: LeaseRow,
    row: LeaseRow,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    // A renewal leaves the rest of the row as it is.
    const written: Bound =
      row.grant === seen.grant ? [REPLACE_RENEWED, row.untilMs, row.nonce] : [REPLACE_ROW, ...columnsOf(row)];
    return (await this.#database.write([...written, ...comparedWith(scope, view, seen)], signal)) === true;
  }

  /** One transaction, in which at most one statement writes. */
  async replaceFirst(
    scope: string,
    view: ScopeView<Scope>,
    choices: readonly Choice<LeaseRow>[],
    signal: AbortSignal | undefined,
  ): Promise<number> {
    const statements = choices.map(({ seen, row }): Bound => {
      const compared = comparedWith(scope, view, seen);
      return [GRANT_ROW, ...columnsOf(row), ...compared, scope, row.grant];
    });
    const results = (await this.#database.batch(statements, signal)) ?? [];
    return results.findIndex((rows) => rows.length > 0);
  }

  async makeRows(
    scope: string,
    { scope: { nextNode } }: ScopeView<Scope>,
    last: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const makeRows: Bound = [MAKE_ROWS, nextNode, last, scope, nextNode];
    await this.#database.batch([makeRows, [RAISE_MARK, last + 1, scope, nextNode]], signal);
  }

  async replaceScope(
    scope: string,
    { scope: seen }: ScopeView<Scope>,
    { incarnation, fenceMs }: Scope,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const statement: Bound = [REPLACE_SCOPE, incarnation, fenceMs, scope, seen.fenceMs, seen.incarnation];
    return (await this.#database.write(statement, signal)) === true;
  }

  async create(record: ScopeRecord): Promise<Found | undefined> {
    const { scope } = record;
    const init: Bound = [INIT_IF_NEW, ...valuesOf(record, INCARNATION), scope, scope];
    const results = await this.#database.batch([[RECORD, scope], [ANY, scope], init], undefined);
    if (results === undefined) throw notInitialised(NAMED, scope, PLACE);
    const [found, rows] = results as [Row[], Row[]];
    return scopeOfRow(found[0]) ?? (rows.length > 0 ? "rows" : undefined);
  }

  /** The clock and the record, and the rows of further statements, all of one moment. */
  async #read(scope: string, signal: AbortSignal | undefined, ...statements: Bound[]) {
    const results = await this.#database.batch([[NOW], [RECORD, scope], ...statements], signal);
    if (results === undefined) return undefined;
    const [now, record, ...rest] = results as [Row[], Row[], ...Row[][]];
    const recorded = scopeOfRow(record[0]);
    if (recorded === undefined) return undefined;
    const moment = { nowMs: wholeOf("now_ms", now[0]?.["now_ms"]), incarnation: INCARNATION };
    return { view: { scope: recorded, moment }, rest };
  }
}

/** The records of tags. */
class D1Tags implements TagTable {
  readonly #database: Database;
  readonly placeOfTags = (): string => TAG_PLACE;
  constructor(database: Database) {
    this.#database = database;
  }

  async readTag(tag: string, signal: AbortSignal | undefined): Promise<TagView | undefined> {
    const [rows = []] = (await this.#database.batch([[TAG, tag]], signal)) ?? [];
    const [row] = rows;
    return row && { kept: keptInRow(row), incarnation: INCARNATION };
  }

  async replaceTag(
    tag: string,
    seen: KeptRecord,
    written: KeptRecord,
    signal: AbortSignal | undefined,
  ): Promise<true | undefined> {
    return (await this.#database.write([REPLACE_TAG, ...written, tag, ...seen], signal)) || undefined;
  }

  makeTag(tag: string, first: bigint, signal: AbortSignal): Promise<boolean | undefined> {
    return this.#database.write([MAKE_TAG_IF_NEW, tag, `${first}`, INCARNATION], signal);
  }
}

/** Leases in the tables `frazil_scopes` and `frazil_leases`, and segments in `frazil_segments`, of a D1 database. */
export class D1Store extends CompareAndSetStore implements ManagedSegmentStore {
  /** The database. */
  readonly identity: object;
  /** @internal */
  readonly setUpBy: typeof NAMED.setUpBy = NAMED.setUpBy;
  readonly #database: Database;
  readonly #tags: D1Tags;

  /**
   * Checks what it is given. It runs no statement.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for something that is no database.
   */
  constructor(database: D1Binding) {
    checkBinding(database);
    const statements = new Database(database);
    super("d1", new D1Leases(statements));
    this.identity = database;
    this.#database = statements;
    this.#tags = new D1Tags(statements);
  }

  async migrate(): Promise<void> {
    await this.#database.batch(
      TABLES.map((statement) => [statement] as const),
      undefined,
    );
  }

  /** As for every store, but that the longest window is 10 minutes unless it is given. */
  override async init(options: InitOptions): Promise<boolean> {
    return super.init(withWindow(options));
  }

  async allocate(request: AllocateRequest): Promise<Allocation> {
    return allocateAtOnce(this, this.#tags, request);
  }

  async initSegment(options: TagOptions): Promise<boolean> {
    return makeTagIn(this, this.#tags, options);
  }
}

const withWindow = (options: InitOptions): InitOptions => ({ windowMaxMs: WORKERS_WINDOW_MAX_MS, ...options });

/**
 * What `migrate` and `init`, or `initSegment`, do, as SQL for people to read and run.
 *
 * @internal
 */
export function d1Ddl(options: InitOptions | DdlTags): string {
  const tables = `-- The tables, once for each database. To run all of it: npx wrangler d1 execute NAME --remote --file FILE
${TABLES_SCRIPT}
`;
  if ("tags" in options) {
    const { tags, first } = printedTags(options);
    const rows = tags.map((tag) => printed(`${MAKE_TAG} ON CONFLICT (tag) DO NOTHING`, [tag, first, INCARNATION]));
    return `${tables}-- The records of the tags, once. ${first} is the first number. One that is there stays as it is.\n${rows.join("")}`;
  }
  const record = recordOf(withWindow(options));
  return `${tables}-- The record of the scope "${record.scope}", once. It fails if there is one: leave that as it is.
${printed(INIT, valuesOf(record, INCARNATION))}`;
}

/**
 * What `fence` does, as SQL for people to read and run.
 *
 * @internal
 */
export function d1Fence(name: string): string {
  const scope = fencedScope({ scope: name });
  return `-- Raises the fence of the scope "${scope}" after a restore: nothing is granted before it.
-- Before the programs start: npx frazil fence d1 … > fence.sql && npx wrangler d1 execute NAME --remote --file fence.sql
${raiseFence(scope)}`;
}

function checkBinding(given: unknown): void {
  const { prepare, batch, getBookmark } = (given ?? {}) as Record<string, unknown>;
  const isDatabase = typeof prepare === "function" && typeof batch === "function";
  if (isDatabase && typeof getBookmark !== "function") return;
  const rule = isDatabase ? SESSION_RULE : BINDING_RULE + hintFor("d1", given);
  throw withoutValue("INVALID_ARGUMENT", "database", described(given), rule);
}

/** Of a table that something else made, or that was changed. */
const OTHER_TABLE =
  "\nThe table is not as migrate() makes it, and migrate() leaves it as it is. Compare it with the SQL of npx frazil ddl d1.";

/** The error for a failure of the database, which stays its cause. */
function errorOf(error: unknown, message: string): FrazilError {
  const isOther = /no such column|has no column named/.test(message);
  const reported = `D1 answered ${fromOutside(message)}${isOther ? OTHER_TABLE : ""}`;
  // What SQLite says of a statement: it would say so again. Everything else is of the way there, or of load.
  if (
    /SQLITE_(ERROR|CONSTRAINT|AUTH|MISMATCH|READONLY|CORRUPT|NOTADB|FULL)|D1_TYPE_ERROR|maximum DB size/i.test(message)
  )
    return storeRefused(reported, error);
  return storeUnavailable(reported, error);
}
