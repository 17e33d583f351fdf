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
 * - **One path for each file**: the logs of SQLite (`-wal`, `-journal`) are beside a path, and an opening by another path does not see what
 *   is in them. A file with hard links, or that is mounted by itself, is refused.
 *
 * Not checked: a network file system, whose locks and flushes SQLite cannot rely on; a file that was separated from its log; and
 * a backup that was written into the file, or a disk that was restored as a whole, with all inodes: call `fence()` then.
 */
import { fstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { monotonicClock } from "../../base/clock.js";
import { FrazilError } from "../../base/errors.js";
import { fromOutside } from "../../base/outside-text.js";
import { wholeOf } from "../kit/answer-rows.js";
import { clientError, optionError } from "../kit/argument-errors.js";
import { clientOf, hintFor } from "../kit/clients.js";
import { messageOf, notInitialised, storeRefused, storeUnavailable, TRANSACTION_RULE } from "../kit/errors.js";
import { checkAcquire, checkEnsure, checkRelease, checkRenew, fencedScope, recordOf } from "../kit/lease/requests.js";
import { type FenceCause, type Moment, UNUSED } from "../kit/lease/rules.js";
import { sleepAfterRace } from "../kit/races.js";
import { checkAllocate, newTagOf } from "../kit/segment/requests.js";
import { tagMissing } from "../kit/segment/tag-table.js";
import {
  CLOCK,
  INIT,
  lacksTables,
  printed,
  type Row,
  raiseFence,
  SqliteTables,
  TABLES_SCRIPT,
  type Value,
  valuesOf,
} from "../kit/tables.js";
import type {
  AcquireRequest,
  Answer,
  EnsureRequest,
  InitOptions,
  ManagedStore,
  ReleaseRequest,
  RenewRequest,
} from "../lease-store.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../segment-store.js";

export type * from "../lease-store.js";
export type * from "../segment-store.js";

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

const NOW = `SELECT ${CLOCK} AS now_ms`;

const CLIENT_RULE =
  "must be a Database of better-sqlite3 or bun:sqlite, or a DatabaseSync of node:sqlite, with prepare(sql) and exec(sql)";

/** How long a locked file is asked again. */
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

/** Leases in the tables `frazil_scopes` and `frazil_leases` of an SQLite file, and segments in `frazil_segments`. */
export class SqliteStore implements ManagedStore, ManagedSegmentStore {
  readonly name = "sqlite";
  readonly #db: SqliteDatabase;
  readonly #statements = new Map<string, SqliteStatement>();
  readonly #tables = new SqliteTables(
    { all: (sql, ...values) => this.#all(sql, ...values), run: (sql, ...values) => this.#run(sql, ...values) },
    () => this.#place(),
  );
  /** The path of the file and its identity, from the first operation on. */
  #file: { path: string; identity: string } | undefined;

  /**
   * Checks what it is given. It runs no statement.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for something that is no connection.
   */
  constructor(database: SqliteDatabase);
  /** @internal */
  constructor(database: SqliteDatabase, options?: object);
  constructor(database: SqliteDatabase, options: object = {}) {
    const { prepare, exec } = (database ?? {}) as Partial<SqliteDatabase>;
    if (typeof prepare !== "function" || typeof exec !== "function" || clientOf(database) === "d1") {
      const rule = CLIENT_RULE + hintFor("sqlite", database);
      throw clientError(database, rule, "database");
    }
    for (const [name, value] of Object.entries(options))
      throw optionError(name, value, "must not be given, since this store has no options");
    this.#db = database;
  }

  async acquire(request: AcquireRequest): Promise<Answer> {
    checkAcquire(request);
    return this.#answered(request.signal, (moment) => this.#tables.acquire(request, moment));
  }

  async renew(request: RenewRequest): Promise<Answer> {
    checkRenew(request);
    return this.#answered(request.signal, (moment) => this.#tables.renew(request, moment));
  }

  async release(request: ReleaseRequest): Promise<boolean> {
    checkRelease(request);
    return (await this.#transaction(request.signal, () => this.#tables.release(request))) === true;
  }

  async ensure(request: EnsureRequest): Promise<void> {
    checkEnsure(request);
    await this.#raise(request.scope, request.behind ? "behind" : "changed", request.signal);
  }

  async migrate(): Promise<void> {
    await this.#transaction(undefined, () => this.#db.exec(TABLES_SCRIPT));
  }

  async init(options: InitOptions): Promise<boolean> {
    const record = recordOf(options);
    const made = await this.#transaction(undefined, ({ incarnation }) => this.#tables.init(record, incarnation));
    if (made === undefined) throw notInitialised(this, record.scope, this.#place(false));
    return made;
  }

  async allocate(request: AllocateRequest): Promise<Allocation> {
    checkAllocate(request);
    const { tag, signal } = request;
    const allocated = await this.#transaction(signal, ({ incarnation }) => this.#tables.allocate(request, incarnation));
    if (allocated === undefined) throw tagMissing(this, tag, this.#place(), request.above);
    return allocated;
  }

  async initSegment(options: TagOptions): Promise<boolean> {
    const { tag, first } = newTagOf(options);
    const made = await this.#transaction(undefined, ({ incarnation }) => this.#tables.makeTag(tag, first, incarnation));
    if (made === undefined) throw tagMissing(this, tag, this.#place(), 0n);
    return made;
  }

  async fence(options?: { readonly scope?: string }): Promise<number> {
    return this.#raise(fencedScope(options), "always");
  }

  async #raise(name: string, cause: FenceCause, signal?: AbortSignal): Promise<number> {
    const fenceMs = await this.#transaction(signal, (moment) => {
      const raised = this.#tables.raise(name, cause, moment);
      if (raised === undefined) throw notInitialised(this, name, this.#place());
      return raised;
    });
    if (fenceMs === undefined) throw notInitialised(this, name, this.#place(false));
    return fenceMs;
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
        if (code === "ERROR" && lacksTables(message)) return undefined;
        const isLocked = code === "BUSY" || code === "LOCKED";
        if (!isLocked || monotonicClock() - started > BUSY_MS) throw errorOf(error, code, message);
        await sleepAfterRace(attempt, signal);
      }
    }
  }

  #attempt<T>(work: (moment: Moment) => T): T {
    // Asked first: a BEGIN IMMEDIATE that fails gives the transaction of the program the lock of the file.
    const { inTransaction, isTransaction } = this.#db as { inTransaction?: unknown; isTransaction?: unknown };
    if (inTransaction === true || isTransaction === true) throw storeRefused(TRANSACTION_RULE);
    const [busy] = this.#db.prepare("PRAGMA busy_timeout").all() as [Row];
    const busyMs = wholeOf("PRAGMA busy_timeout", Object.values(busy)[0]);
    if (busyMs === 0) return this.#begun(work);
    // SQLite would wait in the call, and the event loop with it.
    this.#db.exec("PRAGMA busy_timeout = 0");
    try {
      return this.#begun(work);
    } finally {
      this.#db.exec(`PRAGMA busy_timeout = ${busyMs}`);
    }
  }

  #begun<T>(work: (moment: Moment) => T): T {
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
          "PRAGMA synchronous is below FULL and cannot be set, as inside a transaction\nGive the store its own connection.",
        );
    }
    const [mode] = Object.values(pragma("journal_mode")[0] as Row);
    if (this.#file === undefined) {
      const path = pragma("database_list").find(({ name }) => name === "main")?.["file"];
      if (typeof path !== "string" || path === "")
        throw storeRefused(
          "the database is in memory or temporary\nLeases and counters must outlive the process, so open a file.",
        );
      const identity = identityOf(path);
      if (!isOpen(path)) throw replaced(path);
      if (isMountPoint(path))
        throw storeRefused(`${path} is mounted by itself\nMount its folder instead of the file. ${ONE_PATH_RULE}`);
      this.#file = { path, identity };
    }
    if (mode === "off" || mode === "memory")
      throw storeRefused(
        `PRAGMA journal_mode is ${mode}, with which a crash could damage the file\nUse delete or wal.`,
      );
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

  #run(sql: string, ...values: Value[]): void {
    this.#prepared(sql).run(...(values as never[]));
  }
}

/**
 * What `migrate` and `init` do, as SQL for people to read and run: the tables, and the record of a scope. The file is not
 * known here; the first holder sets it.
 *
 * @internal
 */
export function sqliteDdl(options: InitOptions): string {
  const record = recordOf(options);
  return `-- The tables, once for each file.
${TABLES_SCRIPT}
-- The record of the scope "${record.scope}", once. It fails if there is one: leave that as it is.
${printed(INIT, valuesOf(record, UNUSED))}`;
}

/**
 * What `fence` does, as SQL for people to read and run.
 *
 * @internal
 */
export function sqliteFence(name: string): string {
  const scope = fencedScope({ scope: name });
  return `-- Raises the fence of the scope "${scope}" after a restore: nothing is granted before it.
-- Before the programs start: npx frazil fence sqlite … | sqlite3 FILE
${raiseFence(scope)}`;
}

const ONE_PATH_RULE =
  "SQLite keeps its log beside the path, so programs that open the file by another path do not see what this one commits.";

/** What a copy of a file does not have: the device, the inode, and the time of birth. */
function identityOf(path: string): string {
  const { dev, ino, nlink, birthtimeNs } = statOf(path);
  if (nlink > 1n) throw storeRefused(`${path} has ${nlink} hard links\nRemove the other links. ${ONE_PATH_RULE}`);
  if (birthtimeNs <= 0n)
    throw storeRefused(
      `${path} has no time of birth, so a backup that takes its place could not be told from it\nSome file systems keep none, such as ` +
        "ext4 with inodes of 128 bytes. Copy the file, to another file system if this one keeps none, and use the copy.",
    );
  // In whole milliseconds: Deno reports no more of it, and shares the file with Node.
  return `${dev}/${ino}/${birthtimeNs / 1_000_000n}`;
}

function statOf(path: string) {
  try {
    return statSync(path, { bigint: true });
  } catch (error) {
    throw storeRefused(`${path} cannot be looked at, although it is open: ${messageOf(error)}`, error);
  }
}

/**
 * Whether something is mounted at a path itself, as a single file that is shared with a container. False where the mounts of this
 * process cannot be read.
 */
function isMountPoint(path: string): boolean {
  let mounts: string;
  try {
    mounts = readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return false; // another system, where a file cannot be mounted
  }
  const real = realpathSync(path);
  // Blanks and backslashes of a path are octal there.
  const plain = (text: string) =>
    text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
  return mounts.split("\n").some((line) => plain(line.split(" ")[4] ?? "") === real);
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
  storeRefused(`${path} was replaced while it was open\nThis connection writes to the old file. Open it anew.`);

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
  const reported = `SQLite answered ${code} (${fromOutside(message)})`;
  if (code === "ERROR" && /within a transaction/.test(message)) return storeRefused(TRANSACTION_RULE, error);
  if (code === "READONLY") return storeRefused(`${reported}\nOpen the file for writing.`, error);
  if (["ERROR", "CORRUPT", "NOTADB"].includes(code)) return storeRefused(reported, error);
  return storeUnavailable(code ? reported : `SQLite did not answer: ${fromOutside(message)}`, error);
}
