/**
 * Leases and segments in tables of SQLite: the tables, the statements, and what an operation does in an exclusive transaction. Calls are
 * synchronous, so that nothing comes between reading and writing.
 *
 * An SQLite file and a Durable Object keep their records by this. D1 has the same tables, and some of the statements.
 */

import {
  type AcquireRequest,
  type Answer,
  FENCE_MARGIN_MS,
  type ReleaseRequest,
  type RenewRequest,
} from "../lease-store.js";
import type { AllocateRequest, Allocation } from "../segment-store.js";
import { wholeOf } from "./answer-rows.js";
import { isNew } from "./found-record.js";
import type { ScopeRecord } from "./lease/requests.js";
import {
  decideAcquire,
  decideFence,
  decideRelease,
  decideRenew,
  type FenceCause,
  type LeaseRow,
  type Moment,
  type Scope,
} from "./lease/rules.js";
import { decideAllocate, type KeptRecord, keptRecord, tagRecordOf } from "./segment/rules.js";

/** The tables. The unique index finds the row of a grant. */
export const TABLES = [
  `CREATE TABLE IF NOT EXISTS frazil_scopes (
  scope TEXT NOT NULL PRIMARY KEY,
  layout TEXT NOT NULL,
  node_from INTEGER NOT NULL,
  node_to INTEGER NOT NULL,
  next_node INTEGER NOT NULL, -- rows are made for the node ids below, never again
  window_max_ms INTEGER NOT NULL,
  fence_ms INTEGER NOT NULL, -- no window begins before
  incarnation TEXT NOT NULL -- the store that the rows were written to
)`,
  `CREATE TABLE IF NOT EXISTS frazil_leases (
  scope TEXT NOT NULL,
  node INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,
  until_ms INTEGER NOT NULL,
  grant_id TEXT, -- null: released
  nonce TEXT,
  owner TEXT,
  PRIMARY KEY (scope, node)
)`,
  "CREATE UNIQUE INDEX IF NOT EXISTS frazil_leases_grant ON frazil_leases (scope, grant_id)",
  `CREATE TABLE IF NOT EXISTS frazil_segments (
  tag TEXT NOT NULL PRIMARY KEY,
  next_number INTEGER NOT NULL, -- numbers below are allocated
  recent TEXT NOT NULL, -- the last allocation of each process, which its retry gets again
  incarnation TEXT NOT NULL -- the store that the row was written to
)`,
] as const;

/** The tables as a script. */
export const TABLES_SCRIPT = TABLES.map((statement) => `${statement};\n`).join("");

/** SQLite's clock in Unix milliseconds, to the millisecond. It works in every version; `unixepoch('subsec')` since 3.42. */
export const CLOCK = `CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)`;

/** The record of a scope. */
export const RECORD = `SELECT layout, node_from, node_to, next_node, window_max_ms, fence_ms, incarnation
FROM frazil_scopes WHERE scope = ?`;

/** The row of a node id, and for `acquire`: the row that has this grant already. */
const ROW = `SELECT node, from_ms, until_ms, grant_id, nonce, owner FROM frazil_leases WHERE scope = ?`;
export const OF_NODE = `${ROW} AND node = ?`;
export const OF_GRANT = `${ROW} AND grant_id = ?`;

/** `acquire`: the free rows at a time, the preferred one first, then those with the oldest end. */
export const freeAt = (time: string, limit: number): string =>
  `${ROW} AND until_ms <= ${time} ORDER BY node <> ?, until_ms, node LIMIT ${limit}`;
const FREE = freeAt("?", 1);

/** `acquire`: the first end of all rows. */
export const EARLIEST = `SELECT min(until_ms) AS until_ms FROM frazil_leases WHERE scope = ?`;

/** `acquire`: makes a row, which is free from the beginning. */
const MAKE = `INSERT INTO frazil_leases (scope, node, from_ms, until_ms) VALUES (?, ?, 0, 0)`;

/** `acquire`: the node id from which on no row exists. */
const MARK = `UPDATE frazil_scopes SET next_node = ? WHERE scope = ?`;

/** `renew`: a row as `lease/rules.ts` decided. Without its grant, so that the index is not written. */
export const WRITE_RENEWED = `UPDATE frazil_leases SET until_ms = ?, nonce = ? WHERE scope = ? AND node = ?`;

/** `acquire` and `release`: a row as `lease/rules.ts` decided. */
export const WRITE = `UPDATE frazil_leases SET from_ms = ?, until_ms = ?, grant_id = ?, nonce = ?, owner = ?
WHERE scope = ? AND node = ?`;

/** `ensure` and `fence`. */
export const RAISE = `UPDATE frazil_scopes SET incarnation = ?, fence_ms = ? WHERE scope = ?`;

/**
 * `fence` as SQL for people to run. The incarnation stays: a holder finds another one, and raises the fence once more. No statement of
 * SQLite fails with a text outside of a trigger; that of JSON, which is no path, is shown whole. It is no constant, since SQLite 3.31
 * would fail with that for every scope.
 */
export const raiseFence = (scope: string): string => `UPDATE frazil_scopes
SET fence_ms = max(fence_ms, ${CLOCK} + window_max_ms + ${FENCE_MARGIN_MS}) WHERE scope = '${scope}';
-- Fails where there is no such scope:
SELECT json_extract('{}', CASE WHEN EXISTS (SELECT 1 FROM frazil_scopes WHERE scope = '${scope}') THEN '$'
  ELSE 'this database has no scope "${scope}"' END) AS "the scope exists";
SELECT scope, datetime(fence_ms / 1000, 'unixepoch') AS nothing_is_granted_before_utc FROM frazil_scopes ORDER BY scope;
`;

/** `init`: whether there are rows of a scope. */
export const ANY = `SELECT node FROM frazil_leases WHERE scope = ? LIMIT 1`;

/** `init`. Invariant: written once; the fence is 0. */
export const INIT = `INSERT INTO frazil_scopes
(scope, layout, node_from, node_to, next_node, window_max_ms, fence_ms, incarnation) SELECT ?, ?, ?, ?, ?, ?, 0, ?`;

/** The record of a tag. Its number as text: a client may return a JavaScript number, which has 53 bits. */
export const TAG = `SELECT CAST(next_number AS TEXT) AS next_number, recent, incarnation FROM frazil_segments WHERE tag = ?`;

/** `allocate`. Numbers are bound as text, for the same reason. */
export const WRITE_TAG = `UPDATE frazil_segments SET next_number = CAST(? AS INTEGER), incarnation = ?, recent = ? WHERE tag = ?`;

/** `initSegment`. */
export const MAKE_TAG = `INSERT INTO frazil_segments (tag, next_number, recent, incarnation) VALUES (?, CAST(? AS INTEGER), '[]', ?)`;

/** Whether an error of SQLite is about a missing table of this package, by its message. */
export const lacksTables = (message: string): boolean => /no such table: frazil_/.test(message);

export type Row = Record<string, unknown>;
export type Value = string | number | null;

/** Runs statements in the transaction that is open. */
export interface Statements {
  /** The rows of a statement that only reads. */
  all(sql: string, ...values: Value[]): readonly Row[];
  /** Runs a statement that writes. */
  run(sql: string, ...values: Value[]): void;
}

/** The values of `INIT`. */
export const valuesOf = (record: ScopeRecord, incarnation: string): Value[] => {
  const { scope, layout, nodeFrom, nodeTo, windowMaxMs } = record;
  return [scope, layout, nodeFrom, nodeTo, nodeFrom, windowMaxMs, incarnation];
};

/** A statement with its values as literals, for people to run. Texts contain no quotation marks. */
export function printed(statement: string, values: readonly Value[]): string {
  const literals = values.map((value) => (typeof value === "string" ? `'${value}'` : `${value}`));
  return `${statement.replace(/\?/g, () => literals.shift() as string)};\n`;
}

/** The whole numbers in some columns of a row. */
function wholes<const Names extends readonly string[]>(row: Row, ...names: Names): { [K in keyof Names]: number } {
  return names.map((name) => wholeOf(name, row[name])) as never;
}

/** The record of a scope, and the first of its node ids. */
export interface RecordedScope extends Scope {
  readonly nodeFrom: number;
}

/** The record in a row of `RECORD`. */
export function scopeOfRow(row: Row | undefined): RecordedScope | undefined {
  if (row === undefined) return undefined;
  const [nodeFrom, nodeTo, nextNode] = wholes(row, "node_from", "node_to", "next_node");
  const [windowMaxMs, fenceMs] = wholes(row, "window_max_ms", "fence_ms");
  const { layout, incarnation } = row as { layout: string; incarnation: string };
  return { layout, nodeFrom, nodeTo, nextNode, windowMaxMs, fenceMs, incarnation };
}

/** The row of a node id. */
export function leaseOfRow(row: Row | undefined): LeaseRow | undefined {
  if (row === undefined) return undefined;
  const [node, fromMs, untilMs] = wholes(row, "node", "from_ms", "until_ms");
  const { grant_id: grant, nonce, owner } = row as Record<string, string | null>;
  return { node, fromMs, untilMs, grant: grant ?? null, nonce: nonce ?? null, owner: owner ?? null };
}

/** The time in a row of `EARLIEST`. */
export function earliestOf(row: Row | undefined): number {
  const untilMs = row?.["until_ms"] ?? null;
  return untilMs === null ? 0 : wholeOf("until_ms", untilMs);
}

/** The record of a tag in a row of `TAG`. */
export const keptInRow = (row: Row): KeptRecord => [
  String(row["next_number"]),
  String(row["incarnation"]),
  String(row["recent"]),
];

/** The values of the columns of `WRITE`. */
export const columnsOf = ({ fromMs, untilMs, grant, nonce, owner }: LeaseRow): Value[] => [
  ...[fromMs, untilMs],
  ...[grant, nonce, owner],
];

/** The operations. Each is called within a transaction, with the clock and the incarnation of the store at that moment. */
export class SqliteTables {
  readonly #statements: Statements;
  readonly #placeOf: () => string;

  /** `placeOf`: where the record is looked for, in words for errors. */
  constructor(statements: Statements, placeOf: () => string) {
    this.#statements = statements;
    this.#placeOf = placeOf;
  }

  acquire(request: AcquireRequest, moment: Moment): Answer {
    const { scope: name, grant, node: preferred = -1 } = request;
    const { run } = this.#statements;
    const rows = {
      mine: () => this.#row(OF_GRANT, name, grant),
      free: () => this.#row(FREE, name, moment.nowMs, preferred),
      earliestMs: () => earliestOf(this.#first(EARLIEST, name)),
    };
    for (;;) {
      const scope = this.scope(name);
      if (scope === undefined) return this.#missing();
      const decision = decideAcquire(scope, rows, request, moment);
      if (!("makeTo" in decision)) {
        if (decision.row) this.#write(name, decision.row);
        return decision.answer;
      }
      for (let node = scope.nextNode; node <= decision.makeTo; node++) run(MAKE, name, node);
      run(MARK, decision.makeTo + 1, name);
    }
  }

  renew(request: RenewRequest, moment: Moment): Answer {
    const { scope: name, node } = request;
    const scope = this.scope(name);
    if (scope === undefined) return this.#missing();
    const { answer, row } = decideRenew(scope, this.#row(OF_NODE, name, node), request, moment);
    if (row) this.#statements.run(WRITE_RENEWED, row.untilMs, row.nonce, name, node);
    return answer;
  }

  release(request: ReleaseRequest): boolean {
    const { scope, node } = request;
    const row = decideRelease(this.#row(OF_NODE, scope, node), request);
    if (row) this.#write(scope, row);
    return row !== undefined;
  }

  /** `ensure` and `fence`: the time of the fence. Returns undefined without a record. */
  raise(name: string, cause: FenceCause, moment: Moment): number | undefined {
    const scope = this.scope(name);
    if (scope === undefined) return undefined;
    const raised = decideFence(scope, cause, moment);
    if (raised) this.#statements.run(RAISE, raised.incarnation, raised.fenceMs, name);
    return (raised ?? scope).fenceMs;
  }

  /** As `ManagedStore.init`. */
  init(record: ScopeRecord, incarnation: string): boolean {
    const found = this.scope(record.scope) ?? (this.#first(ANY, record.scope) && "rows");
    const made = isNew(record, found);
    if (made) this.#statements.run(INIT, ...valuesOf(record, incarnation));
    return made;
  }

  /** The record of a scope. */
  scope(name: string): RecordedScope | undefined {
    return scopeOfRow(this.#first(RECORD, name));
  }

  /** Allocates a range of a tag. Returns undefined without a record. */
  allocate(request: AllocateRequest, incarnation: string): Allocation | undefined {
    const { tag } = request;
    const row = this.#first(TAG, tag);
    const seen = row && tagRecordOf(tag, keptInRow(row));
    if (seen === undefined) return undefined;
    const { allocation, record } = decideAllocate(seen, request, incarnation);
    this.#statements.run(WRITE_TAG, ...keptRecord(record), tag);
    return allocation;
  }

  /** Makes the record of a tag, unless there is one. */
  makeTag(tag: string, first: bigint, incarnation: string): boolean {
    if (this.#first(TAG, tag)) return false;
    this.#statements.run(MAKE_TAG, tag, `${first}`, incarnation);
    return true;
  }

  #first(sql: string, ...values: Value[]): Row | undefined {
    return this.#statements.all(sql, ...values)[0];
  }

  #row(sql: string, ...values: Value[]): LeaseRow | undefined {
    return leaseOfRow(this.#first(sql, ...values));
  }

  #write(scope: string, row: LeaseRow): void {
    this.#statements.run(WRITE, ...columnsOf(row), scope, row.node);
  }

  #missing(): Answer {
    return { granted: false, reason: "missing", place: this.#placeOf() };
  }
}
