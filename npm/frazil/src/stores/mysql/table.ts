/** Scopes in the tables: what each operation reads and writes, and what the rows that it reads mean. */
import type { LeaseError } from "../../base/errors.js";
import { wholeOf } from "../kit/answer-rows.js";
import { optionError } from "../kit/argument-errors.js";
import { notInitialised, storeRefused, storeUnavailable } from "../kit/errors.js";
import type { Found } from "../kit/found-record.js";
import type { AcquireView, LeaseTable, RowView, ScopeView } from "../kit/lease/compare-and-set.js";
import type { ScopeRecord } from "../kit/lease/requests.js";
import type { LeaseRow, Scope } from "../kit/lease/rules.js";
import { MAX_ATTEMPTS, sleepAfterRace } from "../kit/races.js";
import type { AcquireRequest } from "../lease-store.js";
import type { MySqlClient, Row } from "./client.js";
import { hexOf, MySqlDatabase, type Values } from "./database.js";
import { causeOf, DUPLICATE, NO_RIGHT, NO_SUCH_COLUMN, NO_SUCH_KEY, NO_SUCH_TABLE, numberOf } from "./errors.js";
import { checkOldTable, NEVER_MS, type OldTable, recordedTable, withOldTable } from "./old-tables.js";
import { type MySqlStoreOptions, type NodeIdSource, type OldTableSource, sourceText, tableOf } from "./options.js";
import { checkServer, incarnationOf } from "./server.js";
import {
  ANY_ROW,
  EXISTING,
  INIT,
  KEEP_ROW,
  LEASES,
  LEAVE,
  MAKE_ROWS,
  OLD_TABLES,
  PLACE,
  RAISE_MARK,
  READ_FOR_ACQUIRE,
  READ_ROW,
  READ_SCOPE,
  REPLACE_ROW,
  REPLACE_SCOPE,
  RETIRE,
  SCOPES,
  SEGMENTS,
  TAKE_OVER,
} from "./statements.js";

/** The record of a scope, and the table that its new node ids come from, if that is an old one. */
export interface MySqlScope extends Scope {
  readonly oldTable: OldTable | undefined;
  /** Rows are made for the numbers below. With an old table, `nextNode` is beyond the largest number there. */
  readonly mark: number;
}

/** The server, and the record if there is one. */
function scopeViewOf(row: Row | undefined, oldTable: OldTable | undefined): ScopeView<MySqlScope> | undefined {
  checkServer(row);
  const incarnation = incarnationOf(row);
  if (row["scope"] === null) return undefined;
  return {
    moment: { nowMs: wholeOf("now_ms", row["now_ms"]), incarnation },
    scope: {
      layout: String(row["layout"]),
      nodeTo: wholeOf("node_to", row["node_to"]),
      ...numbersOf(row, oldTable),
      oldTable,
      windowMaxMs: wholeOf("window_max_ms", row["window_max_ms"]),
      fenceMs: wholeOf("fence_ms", row["fence_ms"]),
      incarnation: String(row["recorded"]),
    },
  };
}

/** The next new node id, and who else draws from the same numbers. */
function numbersOf(row: Row, oldTable: OldTable | undefined) {
  const mark = wholeOf("next_node", row["next_node"]);
  if (oldTable === undefined) return { mark, nextNode: mark };
  const largest = wholeOf("largest", row["largest"] ?? -1);
  const sharedWith = `the table ${oldTable.name}, whose largest number is ${largest}`;
  return { mark, nextNode: Math.max(mark, largest + 1), sharedWith };
}

const textOrNull = (value: unknown): string | null => (value === null ? null : String(value));

function leaseRowOf(row: Row): LeaseRow | undefined {
  if (row["node"] === null) return undefined;
  const isOurs = wholeOf("is_ours", row["is_ours"]) === 1;
  return {
    node: wholeOf("node", row["node"]),
    fromMs: wholeOf("from_ms", row["from_ms"]),
    untilMs: wholeOf("until_ms", row["until_ms"]),
    // A number that is not ours any more has no lease: it is as if it had been released.
    grant: isOurs ? textOrNull(row["grant_id"]) : null,
    nonce: isOurs ? textOrNull(row["nonce"]) : null,
    owner: KEPT,
  };
}
/** The owner of a row that was read: a write that has it leaves the owner as it is. No text of a request contains U+0000. */
const KEPT = "\0";

/** What a compare-and-set compares. */
const sameRow = (scope: string, seen: LeaseRow): Values => ({
  scope,
  node: seen.node,
  seenUntil: seen.untilMs,
  seenGrant: seen.grant,
  seenNonce: seen.nonce,
});
const sameScope = ({ scope, moment }: ScopeView<Scope>): Values => ({
  fence: scope.fenceMs,
  recorded: scope.incarnation,
  server: moment.incarnation,
});

const ALONE_RULE =
  'must be given, since this database has the table {table} of another generator\nPass { workerNode } or { cosId } if its processes mint IDs for the same column, and "none" if they do not.';

/** The tables, and the statements that read and write them. */
export class MySqlTable implements LeaseTable<MySqlScope, LeaseRow> {
  readonly name = "mysql";
  readonly #database: MySqlDatabase;
  /** By scope, as its record was last read. Each read of a record compares it. */
  readonly #oldTables = new Map<string, OldTable>();

  constructor(client: MySqlClient, options: MySqlStoreOptions) {
    this.#database = new MySqlDatabase(client, options, this.#oldTables);
  }

  async readForAcquire(request: AcquireRequest): Promise<AcquireView<MySqlScope, LeaseRow> | undefined> {
    const { scope, grant, nonce, node = -1, signal } = request;
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const found = await this.#readOf(scope, READ_FOR_ACQUIRE, { grant, node }, signal);
      if (found === undefined) return undefined;
      const { rows, view } = found;
      const of = (kind: number) =>
        rows
          .filter((row) => row["kind"] !== null && wholeOf("kind", row["kind"]) === kind)
          .map(leaseRowOf) as LeaseRow[];
      const [mine] = of(1);
      const oldest = of(3).sort((a, b) => a.untilMs - b.untilMs || a.node - b.node);
      const preferred = of(2);
      const others = preferred.length > 0 ? oldest.filter((row) => row.node !== node) : oldest;
      const free = [...preferred, ...others].filter(({ untilMs }) => untilMs <= view.moment.nowMs);
      if (mine?.nonce !== nonce || (await this.#writeOf(view, KEEP_ROW, sameRow(scope, mine), signal)))
        return { ...view, mine, free, earliestMs: oldest[0]?.untilMs };
      if (attempt === MAX_ATTEMPTS)
        throw storeUnavailable(
          `the lease was not the same when it was written once more, ${MAX_ATTEMPTS} times\nReads may go to another server than writes.`,
        );
      await sleepAfterRace(attempt, signal);
    }
  }

  async readRow(
    scope: string,
    node: number,
    signal: AbortSignal | undefined,
  ): Promise<RowView<MySqlScope, LeaseRow> | undefined> {
    const found = await this.#readOf(scope, READ_ROW, { node }, signal);
    return found && { ...found.view, row: leaseRowOf(found.rows[0] as Row) };
  }

  async readScope(scope: string, signal: AbortSignal | undefined): Promise<ScopeView<MySqlScope> | undefined> {
    return (await this.#readOf(scope, READ_SCOPE, {}, signal))?.view;
  }

  async replaceRow(
    scope: string,
    view: ScopeView<MySqlScope>,
    seen: LeaseRow,
    { fromMs, untilMs, grant, nonce, owner }: LeaseRow,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const isOwnerKept = owner === KEPT ? 1 : 0;
    const row = { from: fromMs, until: untilMs, grant, nonce, isOwnerKept, owner: isOwnerKept ? null : hexOf(owner) };
    return this.#writeOf(view, REPLACE_ROW, { ...row, ...sameRow(scope, seen), ...sameScope(view) }, signal);
  }

  async makeRows(
    scope: string,
    view: ScopeView<MySqlScope>,
    last: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { nextNode, oldTable } = view.scope;
    if (oldTable !== undefined) return this.#takeOver(scope, view, oldTable, signal);
    await this.#database.write(MAKE_ROWS, { scope, next: nextNode, last }, signal);
    await this.#database.write(RAISE_MARK, { scope, next: nextNode, last }, signal);
  }

  /** Makes rows for our numbers of the old table that have none: of earlier attempts, or else for one that is inserted there. */
  async #takeOver(
    scope: string,
    view: ScopeView<MySqlScope>,
    { readOurs, insert }: OldTable,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { mark: next, nextNode, nodeTo } = view.scope;
    const { nowMs: now } = view.moment;
    const read = async () => {
      const values = { ...view.scope.oldTable?.values, next, last: nodeTo };
      return ((await this.#database.read(readOurs, values, signal)) as Row[]).map((row) =>
        wholeOf("node", row["node"]),
      );
    };
    let numbers = await read();
    if (numbers.length === 0) {
      try {
        await this.#writeOf(view, insert, { number: nextNode, never: NEVER_MS, now }, signal);
      } catch (error) {
        if (numberOf(causeOf(error)) === DUPLICATE) return;
        throw error;
      }
      numbers = await read();
    }
    const last = numbers.at(-1);
    // The number that came next is beyond the range.
    if (last === undefined) return;
    const rows = numbers.map((number) => `SELECT ${number} AS node`).join(" UNION ALL ");
    await this.#database.write(TAKE_OVER.replace("{numbers}", rows), { scope, now, next }, signal);
    await this.#database.write(RAISE_MARK, { scope, next, last }, signal);
  }

  async replaceScope(
    scope: string,
    view: ScopeView<MySqlScope>,
    { fenceMs, incarnation }: Scope,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const values = { scope, raised: fenceMs, incarnation, now: view.moment.nowMs, ...sameScope(view) };
    return this.#database.write(REPLACE_SCOPE, values, signal);
  }

  async create(
    { scope, layout, nodeFrom, nodeTo, windowMaxMs }: ScopeRecord,
    signal: AbortSignal,
    source?: NodeIdSource,
  ): Promise<Found | undefined> {
    const nodeIdsFrom = hexOf(sourceText(source));
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      // Before the record: what another process makes meanwhile has a record before it has rows.
      const left = await this.#database.read(ANY_ROW, { scope }, signal);
      const rows = left && (await this.#database.read(READ_SCOPE, { scope }, signal));
      if (rows === undefined) throw notInitialised(this, scope, await this.placeOf(scope, signal));
      const [row] = rows as [Row];
      const found = scopeViewOf(row, undefined);
      if (found !== undefined)
        return {
          layout: found.scope.layout,
          nodeFrom: wholeOf("node_from", row["node_from"]),
          nodeTo: found.scope.nodeTo,
          nodeIdsFrom: tableOf(textOrNull(row["node_ids_from"])),
        };
      if (left?.length) return "rows";
      if (source === undefined) await this.#checkAlone();
      const next = typeof source === "object" ? await this.#checked(source, nodeTo) : nodeFrom;
      const range = { from: nodeFrom, to: nodeTo, next };
      const values = { scope, layout: hexOf(layout), ...range, windowMax: windowMaxMs, nodeIdsFrom };
      if (await this.#database.write(INIT, { ...values, server: incarnationOf(row) }, signal)) return undefined;
      await sleepAfterRace(attempt, signal);
    }
    throw storeUnavailable(
      `the record could not be written, since others wrote at the same time, ${MAX_ATTEMPTS} times`,
    );
  }

  /** Refuses a scope that numbers by itself beside an old table. */
  async #checkAlone(): Promise<void> {
    const [found] = (await this.#database.read(OLD_TABLES, {}, undefined)) as readonly Row[];
    if (found) throw optionError("nodeIdsFrom", undefined, ALONE_RULE.replace("{table}", String(found["name"])));
  }

  /** Checks that node ids can come from a table. Returns the number from which on its rows can be ours. */
  async #checked({ oldTable, allowEmpty }: OldTableSource, nodeTo: number): Promise<number> {
    const { name, mismatch, permission, values } = oldTable;
    try {
      await this.#database.read(oldTable.check, {}, undefined);
    } catch (error) {
      const number = numberOf(causeOf(error));
      const { code, message } = error as LeaseError;
      const refused = (fact: string, hint: string) =>
        storeRefused(`${fact}: ${message.replace(`${code}: `, "")}\n${hint}`, error);
      if (number === NO_SUCH_TABLE)
        throw refused(`the table ${name} of nodeIdsFrom does not exist`, "Check its name, and the database.");
      if (NO_RIGHT.includes(number))
        throw refused(`the user may not use the table ${name} of nodeIdsFrom`, `Run: ${permission}`);
      throw [NO_SUCH_COLUMN, NO_SUCH_KEY].includes(number)
        ? refused(mismatch, "Check the name in nodeIdsFrom.")
        : error;
    }
    const [row] = (await this.#database.read(oldTable.state, values, undefined)) as readonly Row[];
    const engine = String(row?.["engine"]);
    const largest = wholeOf("largest", row?.["largest"] ?? -1);
    const first = checkOldTable(oldTable, { engine, largest }, nodeTo);
    if (largest < 0 && !allowEmpty) {
      const names = (await this.#database.read(oldTable.names, {}, undefined)) as readonly Row[];
      throw oldTable.isEmpty(
        names.map((found) => String(found["name"])),
        wholeOf("next", row?.["next_number"] ?? 0),
      );
    }
    return first;
  }

  async placeOf(_scope: string, signal: AbortSignal | undefined): Promise<string> {
    const [row] = (await this.#database.read(PLACE, {}, signal)) ?? [];
    return `the table frazil_scopes of the database ${String(row?.["name"])}, which migrate() makes`;
  }

  /** `leaveOldTable`. Resolves to whether there was one to leave; to `undefined` without a record. */
  async leave(scope: string): Promise<boolean | undefined> {
    for (let attempt = 1; ; attempt++) {
      const view = await this.readScope(scope, undefined);
      if (view?.scope.oldTable === undefined) return view && false;
      const from = hexOf(view.scope.oldTable.text)?.toUpperCase() as string;
      await this.#writeOf(view, RETIRE, { scope, never: NEVER_MS }, undefined);
      if (await this.#writeOf(view, LEAVE, { scope, from, never: NEVER_MS }, undefined)) return true;
      if (attempt === MAX_ATTEMPTS) throw storeUnavailable(`the record was locked ${MAX_ATTEMPTS} times`);
      await sleepAfterRace(attempt, undefined);
    }
  }

  async migrate(): Promise<void> {
    for (let isMade = false; ; isMade = true) {
      const rows = (await this.#database.read(EXISTING, {}, undefined)) as readonly Row[];
      checkServer(rows[0]);
      const wrong = rows.find(({ name, engine }) => name !== null && engine !== "InnoDB");
      if (wrong)
        throw storeRefused(
          `the table ${String(wrong["name"])} has the engine ${String(wrong["engine"])}, and must be InnoDB\nOthers lose what they acknowledged. ALTER TABLE ${String(wrong["name"])} ENGINE = InnoDB.`,
        );
      if (isMade || rows.length === 3) return;
      for (const statement of [SCOPES, LEASES, SEGMENTS]) await this.#database.define(statement);
    }
  }

  /** Reads of a scope, with the old table that its record names. Returns undefined without a record. */
  async #readOf(
    scope: string,
    statement: string,
    values: Values,
    signal: AbortSignal | undefined,
  ): Promise<{ rows: readonly Row[]; view: ScopeView<MySqlScope> } | undefined> {
    for (;;) {
      const oldTable = this.#oldTables.get(scope);
      const all = { ...oldTable?.values, ...values, scope };
      const rows = await this.#database
        .read(withOldTable(statement, oldTable), all, signal)
        .catch(async (error: unknown) => {
          // The scope may have left that table, which was dropped then.
          const record = oldTable && (await this.#database.read(READ_SCOPE, { scope }, signal));
          if (record === undefined || record[0]?.["node_ids_from"] === oldTable?.text) throw error;
          return record;
        });
      if (rows === undefined) return undefined;
      const [row] = rows;
      const view = scopeViewOf(row, oldTable);
      if (view === undefined) return undefined;
      const recorded = textOrNull((row as Row)["node_ids_from"]);
      if (recorded === (oldTable?.text ?? null)) return { rows, view };
      if (recorded === null) this.#oldTables.delete(scope);
      else this.#oldTables.set(scope, recordedTable(scope, recorded));
    }
  }

  /** Writes, with the old table that the decision was based on. */
  async #writeOf(
    { scope: { oldTable } }: ScopeView<MySqlScope>,
    statement: string,
    values: Values,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    return this.#database.write(withOldTable(statement, oldTable), { ...oldTable?.values, ...values }, signal);
  }
}
