/**
 * The Durable Object that grants leases, and keeps the counters of segments. Export its class from your Worker:
 *
 * ```js
 * export { FrazilLeases } from "frazil/workers";
 * ```
 *
 * - **One object for each scope**, and one for each tag: `DurableObjectStore` finds it by its name.
 * - **Synchronous**: nothing is awaited between reading and writing, and each operation is a transaction.
 * - **On disk before it is answered**: the runtime holds an answer back until what was written is durable.
 * - **The clock is the object's**, `Date.now()`.
 * - **A new, empty object starts by itself**, with the fence 0: its first `acquire` makes the record. A renewal of a lease that it
 *   does not know proves that it has lost its rows, and has it fenced.
 * - **No incarnation**: a restore to a point in time is not visible to it. Call `fence()` then.
 */

import { wallClock } from "../base/clock.js";
import { configError, FrazilError, oneLine } from "../base/errors.js";
import type { NodeRange } from "../layout/default-nodes.js";
import { type Reply, replyOf } from "../stores/durable-object/error-data.js";
import { isNodeRange, NODES_RULE } from "../stores/durable-object/nodes.js";
import { notInitialised, storeRefused, storeUnavailable } from "../stores/kit/errors.js";
import {
  checkAcquire,
  checkEnsure,
  checkRecord,
  checkRelease,
  checkRenew,
  checkRequest,
  type ScopeRecord,
  scopeOf,
} from "../stores/kit/lease/requests.js";
import { decideRenew, type FenceCause, type Moment } from "../stores/kit/lease/rules.js";
import { WORKERS_WINDOW_MAX_MS } from "../stores/kit/limits.js";
import { checkAllocate, newTagOf } from "../stores/kit/segment/requests.js";
import { tagMissing } from "../stores/kit/segment/tag-table.js";
import { lacksTables, SqliteTables, TABLES, type Value } from "../stores/kit/tables.js";
import type { AcquireRequest, Answer, EnsureRequest, ReleaseRequest, RenewRequest } from "../stores/lease-store.js";
import type { AllocateRequest, Allocation } from "../stores/segment-store.js";
import { DurableObject } from "./runtime.js";

/** What the object uses of its SQL storage. */
export interface ObjectSql {
  exec(query: string, ...bindings: (string | number | null)[]): { toArray(): Record<string, unknown>[] };
}

/** What the object uses of its storage. */
export interface ObjectStorage {
  readonly sql: ObjectSql;
  transactionSync<T>(closure: () => T): T;
}

/** What the object uses of its state, which the runtime hands to it. */
export interface ObjectState {
  readonly storage: ObjectStorage;
}

/** What the runtime's class of objects has. */
interface ObjectBase {
  readonly __DURABLE_OBJECT_BRAND: never;
}

/** What `acquire` is sent: a request, and the node ids that the object may have. */
export interface ObjectAcquireRequest extends Omit<AcquireRequest, "signal"> {
  readonly nodes: NodeRange;
  /** Those that a new object begins with. Older versions do not send them: all that it may have. */
  readonly newNodes?: NodeRange;
}

/** No restore is visible to an object, so that it has one incarnation for ever. */
const INCARNATION = "object";
/** The layout of a record that was fenced before the first `acquire` has named one. */
const UNKNOWN_LAYOUT = "";

/** `acquire` after a fence on an empty object. */
const ADOPT = `UPDATE frazil_scopes SET layout = ?, node_from = ?, node_to = ?, next_node = ?, window_max_ms = ? WHERE scope = ?`;
/** Whether the object has another scope. */
const OTHER_SCOPE = `SELECT scope FROM frazil_scopes WHERE scope <> ? LIMIT 1`;

const SQL_RULE =
  "this class of objects has no SQL storage\nIt was deployed without migrations, or under new_classes. In the wrangler configuration write " +
  '"migrations": [{ "tag": "v1", "new_sqlite_classes": ["FrazilLeases"] }]. The storage of a class that is deployed cannot be ' +
  "changed: export the class under another name, and bind that one.";

/** No shell reaches an object. */
const setUpBy = (calls: string) => `from a route that only you can call: ${calls}`;
const store = { name: "durable-object", setUpBy };
const PLACE = "the storage of this object";

/** The error for a statement that failed in an object. */
export function sqlError(error: unknown): FrazilError {
  const { message } = error as Error;
  if (/SQL is not enabled/.test(message)) return storeRefused(SQL_RULE, error);
  const reported = `the object's SQLite answered ${oneLine(message)}`;
  // What SQLite says of a statement, such as one on a table that is another one: it would say so again.
  if (/SQLITE_(ERROR|CONSTRAINT|AUTH|MISMATCH|READONLY|CORRUPT|NOTADB|FULL)/.test(message))
    return storeRefused(
      `${reported}\nThe tables frazil_scopes, frazil_leases and frazil_segments are this class's own.`,
      error,
    );
  return storeUnavailable(reported, error);
}

/** The class of objects of the runtime. Its declaration is not part of this package's. */
const Base = DurableObject as unknown as new (ctx: ObjectState, env: unknown) => ObjectBase;

/** Grants the leases of a scope, and allocates the numbers of a tag. Its methods are called by `DurableObjectStore`. */
export class FrazilLeases extends Base {
  readonly #ctx: ObjectState;
  readonly #tables: SqliteTables;

  constructor(ctx: ObjectState, env: unknown) {
    super(ctx, env);
    this.#ctx = ctx;
    const all = (sql: string, ...values: Value[]) => ctx.storage.sql.exec(sql, ...values).toArray();
    const run = (sql: string, ...values: Value[]) => void ctx.storage.sql.exec(sql, ...values);
    this.#tables = new SqliteTables({ all, run }, () => PLACE);
  }

  acquire(request: ObjectAcquireRequest): Reply<Answer> {
    return replyOf(() => {
      checkAcquire(request);
      const { nodes, newNodes = nodes } = request;
      if (!isNodeRange(nodes)) throw configError("INVALID_ARGUMENT", "nodes", nodes, NODES_RULE);
      if (!isNodeRange(newNodes)) throw configError("INVALID_ARGUMENT", "newNodes", newNodes, NODES_RULE);
      return this.#making((moment) => {
        this.#open(request);
        return this.#tables.acquire(request, moment);
      });
    });
  }

  renew(request: Omit<RenewRequest, "signal">): Reply<Answer> {
    return replyOf(() => {
      checkRenew(request);
      const { scope: name, layout } = request;
      const answer = this.#transaction((moment): Answer | undefined => {
        const scope = this.#tables.scope(name);
        if (scope?.layout !== UNKNOWN_LAYOUT) return scope && this.#tables.renew(request, moment);
        // Fenced before any row was made.
        return decideRenew({ ...scope, layout }, undefined, request, moment).answer;
      });
      // There was a record, or there would be no lease: it is lost.
      return answer ?? { granted: false, reason: "behind", storeNowMs: wallClock() };
    });
  }

  release(request: Omit<ReleaseRequest, "signal">): Reply<boolean> {
    return replyOf(() => {
      checkRelease(request);
      return this.#transaction(() => this.#tables.release(request)) === true;
    });
  }

  ensure(request: Omit<EnsureRequest, "signal">): Reply<void> {
    return replyOf(() => {
      checkEnsure(request);
      if (request.behind) this.#raise(request.scope, "behind");
    });
  }

  fence(request: { readonly scope: string }): Reply<number> {
    return replyOf(() => {
      checkRequest(request);
      return this.#raise(scopeOf(request.scope), "always");
    });
  }

  init(record: ScopeRecord): Reply<boolean> {
    return replyOf(() => {
      checkRecord(record);
      return this.#making(() => {
        const scope = this.#tables.scope(record.scope);
        if (scope?.layout !== UNKNOWN_LAYOUT) return this.#make(record);
        this.#adopt(record.scope, { ...record, nextNode: record.nodeFrom });
        return true;
      });
    });
  }

  allocate(request: Omit<AllocateRequest, "signal">): Reply<Allocation> {
    return replyOf(() => {
      checkAllocate(request);
      const allocation = this.#transaction(() => this.#tables.allocate(request, INCARNATION));
      if (allocation === undefined) throw tagMissing(store, request.tag, PLACE, request.above);
      return allocation;
    });
  }

  initSegment(options: { readonly tag: string; readonly first: bigint }): Reply<boolean> {
    return replyOf(() => {
      const { tag, first } = newTagOf(options);
      return this.#making(() => this.#tables.makeTag(tag, first, INCARNATION));
    });
  }

  /** Makes the record of a scope that is new, or compares the node ids of the record. */
  #open({ scope: name, layout, nodes, newNodes = nodes }: ObjectAcquireRequest): void {
    const scope = this.#tables.scope(name);
    const { from: nodeFrom, to: nodeTo } = newNodes;
    const record = { scope: name, layout, nodeFrom, nodeTo, windowMaxMs: WORKERS_WINDOW_MAX_MS };
    if (scope === undefined) this.#make(record);
    else if (scope.layout === UNKNOWN_LAYOUT) this.#adopt(name, { ...record, nextNode: nodeFrom });
    else if (scope.layout === layout && (scope.nodeFrom < nodes.from || scope.nodeTo > nodes.to))
      throw storeRefused(
        `the object of the scope "${name}" was made for the node ids ${scope.nodeFrom} to ${scope.nodeTo}, and this program asks for ` +
          `${nodes.from} to ${nodes.to}\nGive every program of the scope the same option nodes, or use another scope, whose IDs go to another column.`,
      );
  }

  #make(record: ScopeRecord): boolean {
    const [other] = this.#ctx.storage.sql.exec(OTHER_SCOPE, record.scope).toArray();
    if (other)
      throw storeRefused(
        `this object has the scope "${String(other["scope"])}", and was asked for "${record.scope}"\nEach scope has its own object, ` +
          "which DurableObjectStore finds by its name.",
      );
    return this.#tables.init(record, INCARNATION);
  }

  #adopt(name: string, record: Omit<ScopeRecord, "scope"> & { readonly nextNode: number }): void {
    const { layout, nodeFrom, nodeTo, nextNode, windowMaxMs } = record;
    this.#ctx.storage.sql.exec(ADOPT, layout, nodeFrom, nodeTo, nextNode, windowMaxMs, name);
  }

  /** Raises the fence. An object without a record has lost it, or is told so: it is fenced before it knows the layout. */
  #raise(name: string, cause: FenceCause): number {
    return this.#making((moment) => {
      if (this.#tables.scope(name) === undefined)
        this.#make({ scope: name, layout: UNKNOWN_LAYOUT, nodeFrom: 0, nodeTo: 0, windowMaxMs: WORKERS_WINDOW_MAX_MS });
      const fenceMs = this.#tables.raise(name, cause, moment);
      if (fenceMs === undefined) throw notInitialised(store, name, PLACE);
      return fenceMs;
    });
  }

  /** Runs work in a transaction. Makes the tables if they are missing. */
  #making<T>(work: (moment: Moment) => T): T {
    const result = this.#transaction((moment) => ({ made: work(moment) }));
    if (result !== undefined) return result.made;
    return (
      this.#transaction((moment) => {
        for (const statement of TABLES) this.#ctx.storage.sql.exec(statement);
        return { made: work(moment) };
      }) as { made: T }
    ).made;
  }

  /** Runs work in a transaction. Returns undefined if the tables are missing. */
  #transaction<T>(work: (moment: Moment) => T): T | undefined {
    try {
      const { storage } = this.#ctx;
      return storage.transactionSync(() => work({ nowMs: wallClock(), incarnation: INCARNATION }));
    } catch (error) {
      if (FrazilError.is(error)) throw error;
      const { message } = error as Error;
      if (lacksTables(message)) return undefined;
      throw sqlError(error);
    }
  }
}
