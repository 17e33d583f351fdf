/** A store of leases in memory. */
import { wallClock } from "../base/clock.js";
import { wholeOf } from "../stores/kit/answer-rows.js";
import { checkGiven, optionError } from "../stores/kit/argument-errors.js";
import { notInitialised } from "../stores/kit/errors.js";
import { isNew } from "../stores/kit/found-record.js";
import {
  checkAcquire,
  checkEnsure,
  checkRelease,
  checkRenew,
  fencedScope,
  recordOf,
} from "../stores/kit/lease/requests.js";
import {
  decideAcquire,
  decideFence,
  decideRelease,
  decideRenew,
  type FenceCause,
  freeRow,
  type Moment,
} from "../stores/kit/lease/rules.js";
import { newScope, type StoredScope } from "../stores/kit/lease/scope-record.js";
import type {
  AcquireRequest,
  Answer,
  EnsureRequest,
  InitOptions,
  ManagedStore,
  ReleaseRequest,
  RenewRequest,
  ScopeRequest,
} from "../stores/lease-store.js";
import { refuseProduction } from "./production.js";

/** The options of a `MemoryLeaseStore`. */
export interface MemoryLeaseStoreOptions {
  /** The clock of the store, in Unix milliseconds, such as that of a `manualClock(Date.now())`. Default: `Date.now()`. */
  readonly now?: () => number;
}

/** The row of a node id. All times are Unix milliseconds. */
export interface MemoryRow {
  readonly node: number;
  /** The start of the window. */
  readonly fromMs: number;
  /** Its end. From then on the node id is free. */
  readonly untilMs: number;
  /** The holder: 32 hexadecimal digits. `null`: released, or never granted. */
  readonly grant: string | null;
  /** The attempt that wrote the row: 32 hexadecimal digits. */
  readonly nonce: string | null;
  /** The label of the holder. */
  readonly owner: string | null;
}

/** The state of a scope: its record, and its rows by node id. */
export interface SavedScope {
  /** As `layoutText` writes it. */
  readonly layout: string;
  readonly nodeFrom: number;
  readonly nodeTo: number;
  /** The first node id that has no row yet. */
  readonly nextNode: number;
  readonly windowMaxMs: number;
  /** No window begins before this time, in Unix milliseconds. */
  readonly fenceMs: number;
  /** The server that wrote the record. */
  readonly incarnation: string;
  readonly rows: ReadonlyMap<number, MemoryRow>;
}

/** Everything that a `MemoryLeaseStore` keeps, by the names of its scopes. */
export type SavedLeases = ReadonlyMap<string, SavedScope>;

const PLACE = "the memory of this process";

/**
 * A store of leases for tests, in the memory of this process. It keeps the contract of every store, by the rules of the database stores.
 *
 * ```js
 * import assert from "node:assert/strict";
 * import { lease } from "frazil/lease";
 * import { MemoryLeaseStore } from "frazil/testing";
 *
 * const store = new MemoryLeaseStore();
 * await store.init({ layout: "default" });
 * const ids = await lease(store);
 * assert.equal(ids.node, 0);
 * assert.equal(store.rows().get(0).grant !== null, true); // held
 * await ids.close();
 * assert.equal(store.rows().get(0).grant, null); // released
 * ```
 *
 * - **One step**: an operation has taken place when its call returns. Its promise has the answer.
 * - **One process**: no other process sees what is granted here, so it is refused in production.
 *
 * To make it fail, a test replaces one of its calls: `store.renew = () => Promise.reject(new Error("down"))`.
 */
export class MemoryLeaseStore implements ManagedStore {
  readonly name = "memory";
  readonly #now: () => number;
  readonly #scopes = new Map<string, { record: StoredScope; readonly rows: Map<number, MemoryRow> }>();
  /** The number of servers so far. */
  #server = 1;

  /**
   * @throws {ConfigError} `INVALID_OPTION` if `NODE_ENV` is `"production"`, for an unknown option, and for a clock that is not a function.
   */
  constructor(options: MemoryLeaseStoreOptions = {}) {
    refuseProduction("new MemoryLeaseStore()");
    const { now = wallClock } = checkGiven(options, "now");
    if (typeof now !== "function") throw optionError("now", now, "must be a function that returns Unix milliseconds");
    this.#now = now;
  }

  async init(options: InitOptions): Promise<boolean> {
    const record = recordOf(options);
    const found = this.#scopes.get(record.scope)?.record;
    if (found === undefined)
      this.#scopes.set(record.scope, { record: newScope(record, this.#moment().incarnation), rows: new Map() });
    return isNew(record, found);
  }

  async fence(options?: { readonly scope?: string }): Promise<number> {
    return this.#raise(fencedScope(options), "always");
  }

  async acquire(request: AcquireRequest): Promise<Answer> {
    checkAcquire(request);
    const { kept, moment } = this.#at(request);
    if (kept === undefined) return { granted: false, reason: "missing", place: PLACE };
    const { rows } = kept;
    for (;;) {
      const all = [...rows.values()];
      const ended = all.filter(({ untilMs }) => untilMs <= moment.nowMs);
      const view = {
        mine: () => all.find(({ grant }) => grant === request.grant),
        free: () =>
          ended.find(({ node }) => node === request.node) ??
          ended.sort((a, b) => a.untilMs - b.untilMs || a.node - b.node)[0],
        earliestMs: () => (all.length === 0 ? 0 : Math.min(...all.map(({ untilMs }) => untilMs))),
      };
      const decision = decideAcquire(kept.record, view, request, moment);
      if (!("makeTo" in decision)) {
        if (decision.row) rows.set(decision.row.node, decision.row);
        return decision.answer;
      }
      const nextNode = decision.makeTo + 1;
      for (let node = kept.record.nextNode; node < nextNode; node++) if (!rows.has(node)) rows.set(node, freeRow(node));
      kept.record = { ...kept.record, nextNode };
    }
  }

  async renew(request: RenewRequest): Promise<Answer> {
    checkRenew(request);
    const { kept, moment } = this.#at(request);
    if (kept === undefined) return { granted: false, reason: "missing", place: PLACE };
    const { answer, row } = decideRenew(kept.record, kept.rows.get(request.node), request, moment);
    if (row) kept.rows.set(row.node, row);
    return answer;
  }

  async release(request: ReleaseRequest): Promise<boolean> {
    checkRelease(request);
    const { kept } = this.#at(request);
    const row = decideRelease(kept?.rows.get(request.node), request);
    if (row) kept?.rows.set(row.node, row);
    return row !== undefined;
  }

  async ensure(request: EnsureRequest): Promise<void> {
    checkEnsure(request);
    this.#at(request);
    this.#raise(request.scope, request.behind ? "behind" : "changed");
  }

  /**
   * The rows of a scope, by node id: who holds each, and until when. The map is live: if a test replaces a row, its node id belongs to
   * someone else, and the lease is lost at the next renewal.
   *
   * @throws {LeaseError} `STORE_NOT_INITIALISED` if the scope has no record.
   */
  rows(scope = "default"): Map<number, MemoryRow> {
    return this.#keptOf(scope).rows;
  }

  /** A copy of its whole state, for `restore()`. */
  save(): SavedLeases {
    return new Map([...this.#scopes].map(([name, { record, rows }]) => [name, { ...record, rows: new Map(rows) }]));
  }

  /** Goes back to a copy, like a server that lost its last writes. If it is another server, also call `failOver()`. */
  restore(saved: SavedLeases): void {
    this.#scopes.clear();
    for (const [name, { rows, ...record }] of saved) this.#scopes.set(name, { record, rows: new Map(rows) });
  }

  /** Another server takes over. Holders notice at their next request, and raise the fence. */
  failOver(): void {
    this.#server++;
  }

  #moment(): Moment {
    return { nowMs: wholeOf("now()", Math.floor(this.#now())), incarnation: `server ${this.#server}` };
  }

  #at({ scope, signal }: ScopeRequest) {
    signal?.throwIfAborted();
    return { kept: this.#scopes.get(scope), moment: this.#moment() };
  }

  #keptOf(scope: string) {
    const kept = this.#scopes.get(scope);
    if (kept === undefined) throw notInitialised(this, scope, PLACE);
    return kept;
  }

  #raise(scope: string, cause: FenceCause): number {
    const kept = this.#keptOf(scope);
    kept.record = { ...kept.record, ...decideFence(kept.record, cause, this.#moment()) };
    return kept.record.fenceMs;
  }
}
