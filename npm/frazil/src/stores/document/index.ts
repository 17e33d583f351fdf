/**
 * Leases in any database that can replace a few documents on condition: you give two functions, and the store does the rest.
 *
 * ```js
 * import { DocumentStore } from "frazil/stores/document";
 *
 * const store = new DocumentStore({ read, replace });
 * await store.init({ layout: "default" }); // once for each scope
 * ```
 *
 * A scope is a document with its record (`frazil/orders`), one for each node id (`frazil/orders/17`), so that renewals of two holders do
 * not meet, and up to 256 turns (`frazil/orders/turn-0f`). Each is a JSON text of some 200 characters.
 *
 * - **One `replace` decides** each operation: all documents that were decided on must be as they were read, and the server the one that was
 *   read. A change in between, also by a failover, is noticed.
 * - **A grant takes one node id**: an acquisition also changes a turn, chosen by its grant, so an attempt and its retry meet there.
 *
 * Not seen: two functions that do not keep their rules. `frazil/testing/lease-contract` tests them.
 */

import { FrazilError, saidOf } from "../../base/errors.js";
import type { HostAbortSignal } from "../../base/host-types.js";
import { untilAborted } from "../../base/wait.js";
import { SECONDS_END, SECONDS_START } from "../../generated/layouts.js";
import { wholeOf } from "../kit/answer-rows.js";
import { checkGiven, clientError, described, optionError } from "../kit/argument-errors.js";
import { messageOf, storeRefused, storeUnavailable } from "../kit/errors.js";
import type { Found } from "../kit/found-record.js";
import {
  type AcquireView,
  CompareAndSetStore,
  type LeaseTable,
  type RowView,
  type ScopeView,
  untilFirst,
} from "../kit/lease/compare-and-set.js";
import type { ScopeRecord } from "../kit/lease/requests.js";
import { freeRow, type LeaseRow, type Moment, type Scope } from "../kit/lease/rules.js";
import {
  fieldsOf,
  newScope,
  type StoredScope,
  storedFields,
  TEXT_FIELDS,
  WHOLE_FIELDS,
} from "../kit/lease/scope-record.js";
import type { AcquireRequest } from "../lease-store.js";

export type * from "../lease-store.js";

/** What `Documents.read` resolves to. */
export interface DocumentsRead {
  /** The text of the document of each key, in the order of the keys; `null` where there is none. */
  readonly texts: readonly (string | null)[];
  /** The clock of the server in Unix milliseconds, read after the call began. */
  readonly nowMs: number;
  /** Differs between the server and every other one that may lack its writes: it must not be empty. */
  readonly incarnation: string;
}

/** A document that `Documents.replace` compares and writes. */
export interface DocumentChange {
  readonly key: string;
  /** The text that it must have; `null`: it must not exist. */
  readonly seen: string | null;
  /** The text to write. That of `seen` where the document is only compared. */
  readonly text: string;
}

/** Your database, by two functions. Both see the last write: no replica, and no eventual consistency. */
export interface Documents {
  /** Reads documents: each of them, after the call began, as new as those before it or newer. One statement is simplest. */
  read(keys: readonly string[], signal: HostAbortSignal | undefined): PromiseLike<DocumentsRead>;
  /**
   * In one transaction: if every document is as it was seen, and the server is the one of `incarnation`, writes all texts; otherwise
   * nothing. Resolves to whether it wrote them: `true` once they are on disk.
   */
  replace(
    changes: readonly DocumentChange[],
    incarnation: string,
    signal: HostAbortSignal | undefined,
  ): PromiseLike<boolean>;
}

/** The options of a `DocumentStore`. */
export interface DocumentStoreOptions {
  /** The name of the store in errors and `health()`. Default: `"document"`. */
  readonly name?: string;
  /** What the keys begin with. Default: `"frazil/"`. */
  readonly prefix?: string;
}

const DOCUMENTS_RULE =
  "must be an object with the functions read(keys, signal) and replace(changes, incarnation, signal)";
const NAME_RULE = "must be a string of 1 to 32 letters, digits, -, _ and spaces";
const PREFIX_RULE = "must be a string of at most 100 characters without U+0000";
/** How many rows one `replace` makes: with the record, below the 100 documents of a transaction in DynamoDB. */
const MAX_ROWS = 64;
/** A clock in milliseconds shows less until the year 5138. */
const MICROSECONDS_START = 1e14;
/** This many conflicts in a row hardly come from other clients. */
const SUSPECT = 5;

interface DocumentScope extends StoredScope {
  readonly text: string;
  /** The turn of an acquisition, where one was read. */
  readonly turn?: string | null;
}

interface DocumentRow extends LeaseRow {
  readonly text: string;
}

type Signal = HostAbortSignal | undefined;

const textOfScope = (scope: StoredScope): string => JSON.stringify(storedFields(scope));
const textOfRow = ({ node, fromMs, untilMs, grant, nonce, owner }: LeaseRow): string =>
  JSON.stringify({ node, fromMs, untilMs, grant, nonce, owner });

const placeOf = (key: string): string => `the document ${key}`;

function scopeOf(key: string, text: string): DocumentScope {
  const fields = fieldsOf<StoredScope>(placeOf(key), text, WHOLE_FIELDS, TEXT_FIELDS);
  return { ...storedFields(fields), text };
}

function rowOf(key: string, text: string | null): DocumentRow | undefined {
  if (text === null) return undefined;
  const found = fieldsOf<LeaseRow>(placeOf(key), text, ["node", "fromMs", "untilMs"], []);
  const { node, fromMs, untilMs, grant, nonce, owner } = found;
  return { node, fromMs, untilMs, grant, nonce, owner, text };
}

/** The clock of the server. In another unit, windows would be a thousand times too long or too short, or never begin. */
function timeOf(value: unknown): number {
  const nowMs = wholeOf("nowMs", value);
  const unit =
    nowMs >= SECONDS_START && nowMs < SECONDS_END ? "seconds" : nowMs >= MICROSECONDS_START && "microseconds";
  if (unit) throw storeRefused(saidOf("nowMs of read()", `must be Unix milliseconds\nIs it in ${unit}?`, `${nowMs}`));
  return nowMs;
}

/** What was read of a scope: its record, and the texts of further documents. */
interface Reading extends ScopeView<DocumentScope> {
  readonly texts: readonly (string | null)[];
}

class DocumentTable implements LeaseTable<DocumentScope, DocumentRow> {
  readonly #documents: Documents;
  readonly #prefix: string;
  /** The range of rows of each scope when it was last read. */
  readonly #ranges = new Map<string, { readonly from: number; readonly next: number }>();
  /** How often `replace` has written nothing since it last wrote. */
  #unwritten = 0;

  constructor(documents: Documents, prefix: string) {
    this.#documents = documents;
    this.#prefix = prefix;
  }

  waitsFor(): string | undefined {
    if (this.#unwritten < SUSPECT) return undefined;
    return `replace() resolved to false ${this.#unwritten} times in a row\nIf no one else writes, it compares something other than the texts and the incarnation that read() returned.`;
  }

  async readForAcquire(request: AcquireRequest): Promise<AcquireView<DocumentScope, DocumentRow> | undefined> {
    const { scope: name, grant, node, signal } = request;
    for (;;) {
      signal?.throwIfAborted();
      const { from, next } = this.#ranges.get(name) ?? { from: 0, next: 0 };
      const keys = Array.from({ length: next - from }, (_, at) => this.#row(name, from + at));
      // Before the rows: what an acquisition writes beside it is then seen in its row.
      const view = await this.#read(name, [this.#turn(name, grant), ...keys], signal);
      if (view === undefined) return undefined;
      const { nodeFrom, nextNode } = view.scope;
      if (nodeFrom !== from || nextNode !== next) {
        this.#ranges.set(name, { from: nodeFrom, next: nextNode });
        continue;
      }
      const { moment } = view;
      const [turn = null, ...texts] = view.texts;
      const rows = texts.flatMap((text, at) => rowOf(keys[at] as string, text) ?? []);
      const isPreferred = (row: DocumentRow) => Number(row.node === node);
      return {
        scope: { ...view.scope, turn },
        moment,
        mine: rows.find((row) => row.grant === grant),
        free: rows
          .filter(({ untilMs }) => untilMs <= moment.nowMs)
          .sort((a, b) => isPreferred(b) - isPreferred(a) || a.untilMs - b.untilMs || a.node - b.node),
        earliestMs: rows.length === 0 ? 0 : Math.min(...rows.map(({ untilMs }) => untilMs)),
      };
    }
  }

  async readRow(name: string, node: number, signal: Signal): Promise<RowView<DocumentScope, DocumentRow> | undefined> {
    const key = this.#row(name, node);
    const view = await this.#read(name, [key], signal);
    return view && { ...view, row: rowOf(key, view.texts[0] as string | null) };
  }

  async readScope(name: string, signal: Signal): Promise<ScopeView<DocumentScope> | undefined> {
    return this.#read(name, [], signal);
  }

  placeOf(name: string): string {
    return placeOf(this.#scope(name));
  }

  /** Invariant: the record and the row are as they were read. A grant has one row, since its acquisitions change one turn. */
  async replaceRow(
    name: string,
    { scope, moment }: ScopeView<DocumentScope>,
    seen: DocumentRow,
    row: LeaseRow,
    signal: Signal,
  ): Promise<boolean> {
    const changes = [
      this.#same(name, scope),
      { key: this.#row(name, row.node), seen: seen.text, text: textOfRow(row) },
    ];
    if (row.grant !== null && row.grant !== seen.grant) {
      const { turn: before = null } = scope;
      const key = this.#turn(name, row.grant);
      const { turn } = before === null ? { turn: 0 } : fieldsOf<{ turn: number }>(placeOf(key), before, ["turn"], []);
      changes.push({ key, seen: before, text: JSON.stringify({ turn: turn + 1 }) });
    }
    return this.#replace(changes, moment, signal);
  }

  /** Invariant: rows are made for node ids from `nextNode` on, each once, together with the record that says so. */
  async makeRows(
    name: string,
    { scope, moment }: ScopeView<DocumentScope>,
    last: number,
    signal: Signal,
  ): Promise<void> {
    const { nextNode } = scope;
    const end = Math.min(last + 1, nextNode + MAX_ROWS);
    const rows = Array.from({ length: end - nextNode }, (_, at) => this.#newRow(name, nextNode + at));
    const record = { key: this.#scope(name), seen: scope.text, text: textOfScope({ ...scope, nextNode: end }) };
    if (await this.#replace([record, ...rows], moment, signal)) return;
    const view = await this.readRow(name, nextNode, signal);
    if (view?.row !== undefined && view.scope.text === scope.text)
      throw storeRefused(
        `the scope "${name}" has documents of node ids from ${nextNode} on, which its record does not know\nThe record was restored ` +
          "alone. Restore all of one moment, then call fence().",
      );
  }

  /** Invariant: the fence only grows. */
  async replaceScope(
    name: string,
    { scope, moment }: ScopeView<DocumentScope>,
    raised: Scope,
    signal: Signal,
  ): Promise<boolean> {
    const text = textOfScope({ ...scope, ...raised });
    return this.#replace([{ key: this.#scope(name), seen: scope.text, text }], moment, signal);
  }

  /** Invariant: a record is written where there is neither a record nor what an earlier one has left. */
  async create(record: ScopeRecord, signal: Signal): Promise<Found | undefined> {
    const { scope: name, nodeFrom } = record;
    const key = this.#scope(name);
    const { found } = await untilFirst<{ found?: Found }>(this, signal, async () => {
      const { texts, ...moment } = await this.#readAll([key, this.#row(name, nodeFrom)], signal);
      const [text, row] = texts as [string | null, string | null];
      if (text !== null) return { found: scopeOf(key, text) };
      if (row !== null) return { found: "rows" };
      const scope = { ...newScope(record, moment.incarnation), nextNode: nodeFrom + 1 };
      const changes = [{ key, seen: null, text: textOfScope(scope) }, this.#newRow(name, nodeFrom)];
      return (await this.#replace(changes, moment, signal)) ? {} : undefined;
    });
    return found;
  }

  #scope(name: string): string {
    return `${this.#prefix}${name}`;
  }

  #turn(name: string, grant: string): string {
    return `${this.#scope(name)}/turn-${grant.slice(0, 2)}`;
  }

  #row(name: string, node: number): string {
    return `${this.#scope(name)}/${node}`;
  }

  #same(name: string, { text }: DocumentScope): DocumentChange {
    return { key: this.#scope(name), seen: text, text };
  }

  #newRow(name: string, node: number): DocumentChange {
    return { key: this.#row(name, node), seen: null, text: textOfRow(freeRow(node)) };
  }

  /** Reads the record first: what it says may be older than the documents behind it, and is compared with the next write. */
  async #read(name: string, keys: readonly string[], signal: Signal): Promise<Reading | undefined> {
    const key = this.#scope(name);
    const { texts, ...moment } = await this.#readAll([key, ...keys], signal);
    const [text, ...others] = texts as [string | null, ...(string | null)[]];
    return text === null ? undefined : { scope: scopeOf(key, text), moment, texts: others };
  }

  async #readAll(keys: readonly string[], signal: Signal): Promise<Moment & { readonly texts: (string | null)[] }> {
    const found = await this.#answered("read", () => this.#documents.read(keys, signal), signal);
    const { texts, nowMs, incarnation } = (found ?? {}) as Partial<DocumentsRead>;
    if (!Array.isArray(texts) || texts.length !== keys.length)
      throw storeRefused(
        `read() must resolve to { texts, nowMs, incarnation } with as many texts as keys (${keys.length})`,
      );
    for (const text of texts)
      if (typeof text !== "string" && text !== null && text !== undefined)
        throw storeRefused(saidOf("each text of read()", "must be a string, or null for no document", described(text)));
    if (typeof incarnation !== "string" || incarnation === "")
      throw storeRefused(saidOf("incarnation of read()", "must be a string that is not empty", described(incarnation)));
    return { texts: texts.map((text) => text ?? null), nowMs: timeOf(nowMs), incarnation };
  }

  async #replace(changes: readonly DocumentChange[], { incarnation }: Moment, signal: Signal): Promise<boolean> {
    const done = await this.#answered("replace", () => this.#documents.replace(changes, incarnation, signal), signal);
    // A result object of a driver would be taken for success.
    if (typeof done !== "boolean")
      throw storeRefused(
        saidOf("replace()", "must resolve to true or false, whether it wrote the texts", described(done)),
      );
    this.#unwritten = done ? 0 : this.#unwritten + 1;
    return done;
  }

  /** What a function of the user resolves to. If it throws, the store did not answer. */
  async #answered<T>(call: string, run: () => PromiseLike<T>, signal: Signal): Promise<T> {
    signal?.throwIfAborted();
    try {
      return await untilAborted((async () => run())(), signal);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (FrazilError.is(error)) throw error;
      throw storeUnavailable(`${call}() of the documents failed: ${messageOf(error)}`, error);
    }
  }
}

/** Leases in documents of your database. */
export class DocumentStore extends CompareAndSetStore {
  /** Your functions: two stores with the same ones are one store. */
  readonly identity: object;

  /**
   * Checks what it is given. It calls neither function.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for something without the two functions; `INVALID_OPTION`.
   */
  constructor(documents: Documents, options: DocumentStoreOptions = {}) {
    const { read, replace } = (documents ?? {}) as Partial<Documents>;
    if (typeof read !== "function" || typeof replace !== "function")
      throw clientError(documents, DOCUMENTS_RULE, "documents");
    const { name = "document", prefix = "frazil/" } = checkGiven(options, "name, prefix") as DocumentStoreOptions;
    if (typeof name !== "string" || !/^[\w -]{1,32}$/.test(name)) throw optionError("name", name, NAME_RULE);
    if (typeof prefix !== "string" || prefix.length > 100 || prefix.includes("\0"))
      throw optionError("prefix", prefix, PREFIX_RULE);
    super(name, new DocumentTable(documents, prefix));
    this.identity = documents;
  }
}
