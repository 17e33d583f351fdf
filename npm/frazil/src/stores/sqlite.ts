/**
 * Leases and segments in an SQLite file: for the processes of one host, or for a program that has an SQLite file already.
 *
 * ```js
 * import { SqliteStore } from "frazil/stores/sqlite";
 *
 * const store = new SqliteStore(new Database("leases.db"));
 * await store.migrate(); // tables; may run at each start
 * await store.init({ layout: "default" }); // once for each scope
 * ```
 *
 * - **Each operation is one transaction** (`BEGIN IMMEDIATE`), which no other process enters. Calls of SQLite are
 *   synchronous: an operation holds the event loop for the time of a write to disk.
 * - **The clock is that of SQLite**, read once in the transaction: the wall clock of the host.
 * - **A grant is on disk before it is answered**: the store sets `synchronous = FULL` on the connection if it is lower, and
 *   looks again at each operation. In WAL mode with `NORMAL`, a loss of power takes the last transactions back.
 * - **A copy of the file is another incarnation**: the record has the device, the inode and the time of birth of its file.
 *
 * Not checked: a network file system, whose locks and flushes SQLite cannot rely on; and a disk that was restored as a
 * whole, with all inodes: call `fence()` then.
 */
import { fstatSync, readdirSync, statSync } from "node:fs";
import { monotonicClock } from "../clock.js";
import { ConfigError, FrazilError } from "../errors.js";
import { alreadyInitialised, notInitialised, pause, storeRefused, storeUnavailable, wholeOf } from "./answers.js";
import { hintFor } from "./clients.js";
import { checkAcquire, checkEnsure, checkRelease, checkRenew, fencedScope, recordOf } from "./requests.js";
import {
  decideAcquire,
  decideFence,
  decideRelease,
  decideRenew,
  type FenceCause,
  type LeaseRow,
  type Moment,
  type Scope,
  UNUSED,
} from "./rules.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "./segment-store.js";
import { allocateFrom, makeTagIn, type TagTable, type TagView } from "./segments.js";
import type {
  AcquireRequest,
  Answer,
  EnsureRequest,
  InitOptions,
  ManagedStore,
  ReleaseRequest,
  RenewRequest,
} from "./store.js";

export type * from "./segment-store.js";
export type * from "./store.js";

/** The tables. The unique index finds the row of a grant. */
const TABLES = `CREATE TABLE IF NOT EXISTS frazil_scopes (
  scope TEXT NOT NULL PRIMARY KEY,
  layout TEXT NOT NULL,
  node_from INTEGER NOT NULL,
  node_to INTEGER NOT NULL,
  next_node INTEGER NOT NULL, -- rows are made for the node ids below, never again
  window_max_ms INTEGER NOT NULL,
  fence_ms INTEGER NOT NULL, -- no window begins before
  incarnation TEXT NOT NULL -- the file that the rows were written to
);
CREATE TABLE IF NOT EXISTS frazil_leases (
  scope TEXT NOT NULL,
  node INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,
  until_ms INTEGER NOT NULL,
  grant_id TEXT, -- null: released
  nonce TEXT,
  owner TEXT,
  PRIMARY KEY (scope, node)
);
CREATE UNIQUE INDEX IF NOT EXISTS frazil_leases_grant ON frazil_leases (scope, grant_id);
CREATE TABLE IF NOT EXISTS frazil_segments (
  tag TEXT NOT NULL PRIMARY KEY,
  next_number INTEGER NOT NULL, -- numbers below are allocated
  recent TEXT NOT NULL, -- the last allocation of each process, which its retry gets again
  incarnation TEXT NOT NULL -- the file that the row was written to
);
`;

/** SQLite's clock in Unix milliseconds, to the millisecond. It works in every version; `unixepoch('subsec')` since 3.42. */
const NOW = `SELECT CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) AS now_ms`;

/** The record of a scope. */
const RECORD = `SELECT layout, node_to, next_node, window_max_ms, fence_ms, incarnation FROM frazil_scopes WHERE scope = ?`;

/** The row of a node id, and for `acquire`: the row that has this grant already. */
const ROW = `SELECT node, from_ms, until_ms, grant_id, nonce, owner FROM frazil_leases WHERE scope = ?`;
const OF_NODE = `${ROW} AND node = ?`;
const OF_GRANT = `${ROW} AND grant_id = ?`;

/** `acquire`: a free row, the preferred one first, then the one with the oldest end. */
const FREE = `${ROW} AND until_ms <= ? ORDER BY node <> ?, until_ms, node LIMIT 1`;

/** `acquire`: the first end of all rows. */
const EARLIEST = `SELECT min(until_ms) AS until_ms FROM frazil_leases WHERE scope = ?`;

/** `acquire`: makes a row, which is free from the beginning. */
const MAKE = `INSERT INTO frazil_leases (scope, node, from_ms, until_ms) VALUES (?, ?, 0, 0)`;

/** `acquire`: the node id from which on no row exists. */
const MARK = `UPDATE frazil_scopes SET next_node = ? WHERE scope = ?`;

/** `acquire`, `renew` and `release`: a row as `rules.ts` decided. */
const WRITE = `UPDATE frazil_leases SET from_ms = ?, until_ms = ?, grant_id = ?, nonce = ?, owner = ?
WHERE scope = ? AND node = ?`;

/** `ensure` and `fence`. */
const RAISE = `UPDATE frazil_scopes SET incarnation = ?, fence_ms = ? WHERE scope = ?`;

/** `init`: whether there are rows of a scope. */
const ANY = `SELECT node FROM frazil_leases WHERE scope = ? LIMIT 1`;

/** `init`. Invariant: written once; the fence is 0. */
const INIT = `INSERT INTO frazil_scopes
(scope, layout, node_from, node_to, next_node, window_max_ms, fence_ms, incarnation) VALUES (?, ?, ?, ?, ?, ?, 0, ?)`;

/** The record of a tag. Its number as text: a client may return a JavaScript number, which has 53 bits. */
const TAG = `SELECT CAST(next_number AS TEXT) AS next_number, recent, incarnation FROM frazil_segments WHERE tag = ?`;

/** `allocate`. Invariant: the record is as it was read. Numbers are bound as text, for the same reason. */
const REPLACE_TAG = `UPDATE frazil_segments SET next_number = CAST(? AS INTEGER), incarnation = ?, recent = ?
WHERE tag = ? AND next_number = CAST(? AS INTEGER) AND incarnation = ? AND recent = ?`;

/** `initSegment`. A record that is there stays. */
const MAKE_TAG = `INSERT INTO frazil_segments (tag, next_number, recent, incarnation)
SELECT ?, CAST(? AS INTEGER), '[]', ? WHERE NOT EXISTS (SELECT 1 FROM frazil_segments WHERE tag = ?)`;

/** A prepared statement of your client. */
export interface SqliteStatement {
  all(...values: never[]): unknown;
  run(...values: never[]): unknown;
}

/** Your connection: of `better-sqlite3`, `node:sqlite` or `bun:sqlite`. The store neither opens nor closes it. */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
}

const CLIENT_RULE =
  "must be a Database of better-sqlite3 or bun:sqlite, or a DatabaseSync of node:sqlite: an object with prepare(sql) and exec(sql)";

/** How long a locked file is asked again. One attempt waits for the `busy_timeout` of the connection in addition. */
const BUSY_MS = 2000;
/** `PRAGMA synchronous`: FULL. 3 is EXTRA, which stays. */
const FULL = 2;
/** Result codes of SQLite (sqlite.org/rescode.html), as far as they differ in what to do. */
const CODES: Record<number, string> = {
  1: "ERROR",
  5: "BUSY",
  6: "LOCKED",
  8: "READONLY",
  11: "CORRUPT",
  14: "CANTOPEN",
  26: "NOTADB",
};

type Row = Record<string, unknown>;
type Value = string | number | null;

/** The record of a tag in its row, and the incarnation of the file. */
const viewIn = ({ next_number, incarnation: written, recent }: Row, incarnation: string): TagView => ({
  kept: [String(next_number), String(written), String(recent)],
  incarnation,
});

/** Leases in the tables `frazil_scopes` and `frazil_leases` of an SQLite file, and segments in `frazil_segments`. */
export class SqliteStore implements ManagedStore, ManagedSegmentStore {
  readonly name = "sqlite";
  readonly #db: SqliteDatabase;
  readonly #statements = new Map<string, SqliteStatement>();
  /** The path of the file and its identity, from the first operation on. */
  #file: { path: string; identity: string } | undefined;

  /**
   * Checks what it is given. It runs no statement.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for something that is no connection.
   */
  constructor(database: SqliteDatabase) {
    const { prepare, exec } = (database ?? {}) as Partial<SqliteDatabase>;
    if (typeof prepare !== "function" || typeof exec !== "function") {
      const given = database === null || database === undefined ? `${database}` : `some ${typeof database}`;
      const rule = CLIENT_RULE + hintFor("sqlite", database);
      // Without its value: it may be a connection string with a password.
      throw new ConfigError("INVALID_ARGUMENT", `database is ${given}: ${rule}`, { field: "database", rule });
    }
    this.#db = database;
  }

  async acquire(request: AcquireRequest): Promise<Answer> {
    checkAcquire(request);
    const { scope: name, grant, node: preferred = -1 } = request;
    return this.#answered(request.signal, (moment): Answer => {
      const rows = {
        mine: () => this.#row(OF_GRANT, name, grant),
        free: () => this.#row(FREE, name, moment.nowMs, preferred),
        earliestMs: () => this.#earliest(name),
      };
      for (;;) {
        const scope = this.#scope(name);
        if (scope === undefined) return this.#missing();
        const decision = decideAcquire(scope, rows, request, moment);
        if (!("makeTo" in decision)) {
          if (decision.row) this.#write(name, decision.row);
          return decision.answer;
        }
        for (let node = scope.nextNode; node <= decision.makeTo; node++) this.#run(MAKE, name, node);
        this.#run(MARK, decision.makeTo + 1, name);
      }
    });
  }

  async renew(request: RenewRequest): Promise<Answer> {
    checkRenew(request);
    const { scope: name, node } = request;
    return this.#answered(request.signal, (moment): Answer => {
      const scope = this.#scope(name);
      if (scope === undefined) return this.#missing();
      const { answer, row } = decideRenew(scope, this.#row(OF_NODE, name, node), request, moment);
      if (row) this.#write(name, row);
      return answer;
    });
  }

  async release(request: ReleaseRequest): Promise<boolean> {
    checkRelease(request);
    const { scope, node } = request;
    const isReleased = await this.#transaction(request.signal, () => {
      const row = decideRelease(this.#row(OF_NODE, scope, node), request);
      if (row) this.#write(scope, row);
      return row !== undefined;
    });
    return isReleased === true;
  }

  async ensure(request: EnsureRequest): Promise<void> {
    checkEnsure(request);
    await this.#raise(request.scope, request.behind ? "behind" : "changed", request.signal);
  }

  async migrate(): Promise<void> {
    await this.#transaction(undefined, () => this.#db.exec(TABLES));
  }

  async init(options: InitOptions): Promise<void> {
    const { scope, layout, nodeFrom, nodeTo, windowMaxMs } = recordOf(options);
    const done = await this.#transaction(undefined, ({ incarnation }) => {
      const [record] = this.#all(RECORD, scope);
      if (record || this.#all(ANY, scope).length > 0)
        throw alreadyInitialised(scope, record && String(record["layout"]));
      this.#run(INIT, scope, layout, nodeFrom, nodeTo, nodeFrom, windowMaxMs, incarnation);
      return true;
    });
    if (done === undefined) throw notInitialised(this, scope, this.#place(false));
  }

  async allocate(request: AllocateRequest): Promise<Allocation> {
    return allocateFrom(this, this.#tags, request);
  }

  async initSegment(options: TagOptions): Promise<boolean> {
    return makeTagIn(this, this.#tags, options);
  }

  readonly #tags: TagTable = {
    readTag: (tag, signal) =>
      this.#transaction(signal, ({ incarnation }) => {
        const [row] = this.#all(TAG, tag);
        if (row === undefined) return undefined;
        return viewIn(row, incarnation);
      }),
    replaceTag: (tag, seen, written, signal) =>
      this.#transaction(signal, ({ incarnation }) => {
        const isSame = written[1] === incarnation;
        if (isSame && this.#run(REPLACE_TAG, ...written, tag, ...seen) > 0) return true;
        const [row] = this.#all(TAG, tag);
        return row && viewIn(row, incarnation);
      }),
    makeTag: (tag, first) =>
      this.#transaction(undefined, ({ incarnation }) => this.#run(MAKE_TAG, tag, `${first}`, incarnation, tag) > 0),
    placeOfTags: () => this.#place(),
  };

  async fence(options?: { readonly scope?: string }): Promise<number> {
    return this.#raise(fencedScope(options), "always");
  }

  async #raise(name: string, cause: FenceCause, signal?: AbortSignal): Promise<number> {
    const fenceMs = await this.#transaction(signal, (moment) => {
      const scope = this.#scope(name);
      if (scope === undefined) throw notInitialised(this, name, this.#place());
      const raised = decideFence(scope, cause, moment);
      if (raised) this.#run(RAISE, raised.incarnation, raised.fenceMs, name);
      return (raised ?? scope).fenceMs;
    });
    if (fenceMs === undefined) throw notInitialised(this, name, this.#place(false));
    return fenceMs;
  }

  #row(sql: string, ...values: Value[]): LeaseRow | undefined {
    const [row] = this.#all(sql, ...values);
    if (row === undefined) return undefined;
    const [node, fromMs, untilMs] = wholes(row, "node", "from_ms", "until_ms");
    const { grant_id: grant, nonce, owner } = row as Record<string, string | null>;
    return { node, fromMs, untilMs, grant: grant ?? null, nonce: nonce ?? null, owner: owner ?? null };
  }

  #write(scope: string, { node, fromMs, untilMs, grant, nonce, owner }: LeaseRow): void {
    this.#run(WRITE, fromMs, untilMs, grant, nonce, owner, scope, node);
  }

  #earliest(name: string): number {
    const [row] = this.#all(EARLIEST, name);
    const untilMs = row?.["until_ms"] ?? null;
    return untilMs === null ? 0 : wholeOf("until_ms", untilMs);
  }

  #scope(name: string): Scope | undefined {
    const [row] = this.#all(RECORD, name);
    if (row === undefined) return undefined;
    const [nodeTo, nextNode, windowMaxMs, fenceMs] = wholes(row, "node_to", "next_node", "window_max_ms", "fence_ms");
    const { layout, incarnation } = row as { layout: string; incarnation: string };
    return { layout, nodeTo, nextNode, windowMaxMs, fenceMs, incarnation };
  }

  #missing(hasTables = true): Answer {
    return { granted: false, reason: "missing", place: this.#place(hasTables) };
  }

  /** Where the record is looked for, in words for errors. */
  #place(hasTables = true): string {
    const [main] = this.#all("PRAGMA database_list");
    const file = String(main?.["file"] || "a database in memory");
    return hasTables ? file : `${file}, which has no tables of this store`;
  }

  async #answered(signal: AbortSignal | undefined, work: (moment: Moment) => Answer): Promise<Answer> {
    return (await this.#transaction(signal, work)) ?? this.#missing(false);
  }

  /** Runs work in a transaction, and again while the file is locked. Returns undefined if the tables are missing. */
  async #transaction<T>(signal: AbortSignal | undefined, work: (moment: Moment) => T): Promise<T | undefined> {
    const started = monotonicClock();
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      try {
        return this.#attempt(work);
      } catch (error) {
        if (FrazilError.is(error)) throw error;
        const code = codeOf(error);
        const { message } = error as Error;
        if (code === "ERROR" && /no such table: frazil_/.test(message)) return undefined;
        const isLocked = code === "BUSY" || code === "LOCKED";
        if (!isLocked || monotonicClock() - started > BUSY_MS) throw errorOf(error, code, message);
        await pause(attempt, signal);
      }
    }
  }

  #attempt<T>(work: (moment: Moment) => T): T {
    const incarnation = this.#checked();
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const [row] = this.#all(NOW) as [Row];
      const result = work({ nowMs: wholeOf("now_ms", row["now_ms"]), incarnation });
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      try {
        this.#db.exec("ROLLBACK");
      } catch {
        // SQLite has rolled back by itself, as after a full disk. The first error is the one to report.
      }
      throw error;
    }
  }

  /** Checks that the connection keeps what it commits, and that its file is the same. Returns the file's identity. */
  #checked(): string {
    // Not kept prepared: SQLite answers some pragmas when they are prepared.
    const pragma = (name: string) => this.#db.prepare(`PRAGMA ${name}`).all() as Row[];
    const level = () => wholeOf("PRAGMA synchronous", Object.values(pragma("synchronous")[0] as Row)[0]);
    if (level() < FULL) {
      this.#db.exec("PRAGMA synchronous = FULL");
      if (level() < FULL)
        throw storeRefused(
          "PRAGMA synchronous is below FULL and cannot be set, as inside a transaction: give the store a connection of its own",
        );
    }
    if (this.#file === undefined) {
      const path = pragma("database_list").find(({ name }) => name === "main")?.["file"];
      if (typeof path !== "string" || path === "")
        throw storeRefused("the database is in memory or temporary: leases must outlive the process, so open a file");
      const [mode] = Object.values(pragma("journal_mode")[0] as Row);
      if (mode === "off" || mode === "memory")
        throw storeRefused(`PRAGMA journal_mode is ${mode}: a crash could damage the file. Use delete or wal`);
      const identity = identityOf(path);
      if (!isOpen(path)) throw replaced(path);
      this.#file = { path, identity };
    }
    const { path, identity } = this.#file;
    if (identityOf(path) !== identity) throw replaced(path);
    return identity;
  }

  #prepared(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #all(sql: string, ...values: Value[]): Row[] {
    return this.#prepared(sql).all(...(values as never[])) as Row[];
  }

  /** Runs a statement that writes. Returns how many rows it changed. */
  #run(sql: string, ...values: Value[]): number {
    const result = this.#prepared(sql).run(...(values as never[])) as { changes?: unknown } | null | undefined;
    return wholeOf("changes", result?.changes);
  }
}

/**
 * What `migrate` and `init` do, as SQL for people to read and run: the tables, and the record of a scope. The file is not
 * known here; the first holder sets it.
 *
 * @internal
 */
export function sqliteDdl(options: InitOptions): string {
  const { scope, layout, nodeFrom, nodeTo, windowMaxMs } = recordOf(options);
  const values = [scope, layout, nodeFrom, nodeTo, nodeFrom, windowMaxMs, UNUSED];
  const literals = values.map((value) => (typeof value === "string" ? `'${value}'` : `${value}`));
  return `-- The tables, once for each file.
${TABLES}
-- The record of the scope "${scope}", once. It fails if there is one: leave that as it is.
${INIT.replace(/\?/g, () => literals.shift() as string)};
`;
}

/** The whole numbers in some columns of a row. */
function wholes<const Names extends readonly string[]>(row: Row, ...names: Names): { [K in keyof Names]: number } {
  return names.map((name) => wholeOf(name, row[name])) as never;
}

/** What a copy of a file does not have: the device, the inode, and the time of birth. */
function identityOf(path: string): string {
  try {
    const { dev, ino, birthtimeNs } = statSync(path, { bigint: true });
    // In whole milliseconds: Deno reports no more of it, and shares the file with Node.
    return `${dev}/${ino}/${birthtimeNs / 1_000_000n}`;
  } catch (error) {
    throw storeRefused(`${path} cannot be looked at, although it is open: ${(error as Error).message}`, error);
  }
}

/**
 * Whether this process has the file of a path open: the file may have been replaced between the opening of the connection
 * and the first operation, and its identity would then be that of another file. True where descriptors cannot be listed.
 */
function isOpen(path: string): boolean {
  const { dev, ino } = statSync(path, { bigint: true });
  const isIt = (descriptor: string): boolean => {
    try {
      const open = fstatSync(Number(descriptor), { bigint: true });
      return open.dev === dev && open.ino === ino;
    } catch {
      return false; // closed meanwhile, as that of the folder itself
    }
  };
  for (const folder of ["/proc/self/fd", "/dev/fd"]) {
    try {
      return readdirSync(folder).some(isIt);
    } catch {
      // no such folder: another system
    }
  }
  return true;
}

const replaced = (path: string) =>
  storeRefused(`${path} was replaced while it was open: this connection writes to the old file. Open it anew`);

/** The name of SQLite's result code. Each client reports it in another way. */
function codeOf(error: unknown): string {
  const { code, errcode, errno } = (error ?? {}) as { code?: unknown; errcode?: unknown; errno?: unknown };
  if (typeof code === "string" && code.startsWith("SQLITE_")) return code.split("_")[1] as string;
  const number = errcode ?? errno;
  // The low byte is the primary code, the rest says more.
  return typeof number === "number" ? (CODES[number & 255] ?? "") : "";
}

/** The error for a failure of the client, which stays its cause. */
function errorOf(error: unknown, code: string, message: string): FrazilError {
  const reported = `SQLite answered ${code} (${message})`;
  if (code === "ERROR" && /within a transaction/.test(message))
    return storeRefused(
      "the connection is inside a transaction of yours: give the store a connection of its own",
      error,
    );
  if (code === "READONLY") return storeRefused(`${reported}: the file or the connection is read-only`, error);
  if (["ERROR", "CORRUPT", "NOTADB"].includes(code)) return storeRefused(reported, error);
  return storeUnavailable(code ? reported : `SQLite did not answer: ${message}`, error);
}
