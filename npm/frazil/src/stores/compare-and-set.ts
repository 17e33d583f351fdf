/**
 * A store on anything that can replace a row on condition that nobody else has written it: it reads, decides by `rules.ts`,
 * and writes. Who finds that somebody else was faster reads again.
 *
 * - **One compare-and-set decides** each operation; what was read before has no effect if it has changed since.
 * - **The oldest free row first**; only after a lost race one of the 16 oldest at random, so that processes that start at
 *   once do not meet at each.
 */
import { alreadyInitialised, isLostRace, notInitialised, pause, storeUnavailable } from "./answers.js";
import {
  checkAcquire,
  checkEnsure,
  checkRelease,
  checkRenew,
  fencedScope,
  recordOf,
  type ScopeRecord,
} from "./requests.js";
import {
  decideAcquire,
  decideFence,
  decideRelease,
  decideRenew,
  type FenceCause,
  type LeaseRow,
  type Moment,
  type Scope,
} from "./rules.js";
import type {
  AcquireRequest,
  Answer,
  EnsureRequest,
  InitOptions,
  ManagedStore,
  ReleaseRequest,
  RenewRequest,
} from "./store.js";

/** The record of a scope as it was read. `S` has what a later write compares, such as a version. @internal */
export interface ScopeView<S extends Scope> {
  readonly scope: S;
  readonly moment: Moment;
}

/** The record and a row. @internal */
export interface RowView<S extends Scope, R extends LeaseRow> extends ScopeView<S> {
  readonly row: R | undefined;
}

/** The record and what `acquire` looks for among the rows. @internal */
export interface AcquireView<S extends Scope, R extends LeaseRow> extends ScopeView<S> {
  /** The row that has the grant of the request. */
  readonly mine: R | undefined;
  /** Rows that have ended: the preferred one first, then those with the oldest end; some 16 are enough. */
  readonly free: readonly R[];
  /** The first end of all rows. Without a row: undefined, or 0 if the scope shares its numbers with nobody. */
  readonly earliestMs: number | undefined;
}

/**
 * Where the record and the rows are. Each read is of committed data and newer than the call, and reads the clock of the store
 * after the call began. `undefined`: there is no record, or nothing to keep one in.
 *
 * A store hands a table only views and rows that the table has read, so it need not know what else is in them.
 *
 * @internal
 */
export interface LeaseTable<S extends Scope = Scope, R extends LeaseRow = LeaseRow> {
  readForAcquire(request: AcquireRequest): Promise<AcquireView<S, R> | undefined>;
  readRow(scope: string, node: number, signal: AbortSignal | undefined): Promise<RowView<S, R> | undefined>;
  readScope(scope: string, signal: AbortSignal | undefined): Promise<ScopeView<S> | undefined>;
  /** Where it looks for the record of a scope, in words for errors. It is asked for when there is none. */
  placeOf(scope: string, signal: AbortSignal | undefined): string | Promise<string>;
  /** As `LeaseStore.waitsFor`. */
  waitsFor?(): string | undefined;
  /** Replaces the row `seen`, if it and the record are as they were read. On disk before it resolves to `true`. */
  replaceRow(
    scope: string,
    view: ScopeView<S>,
    seen: R,
    row: LeaseRow,
    signal: AbortSignal | undefined,
  ): Promise<boolean>;
  /**
   * Makes the rows from `nextNode` to `last`, which were never granted, unless somebody else does. It may make fewer, and is called
   * again then.
   */
  makeRows(scope: string, view: ScopeView<S>, last: number, signal: AbortSignal | undefined): Promise<void>;
  /** Replaces the fence and the incarnation of the record, if it is as it was read. */
  replaceScope(scope: string, view: ScopeView<S>, raised: Scope, signal: AbortSignal | undefined): Promise<boolean>;
  /**
   * Writes a record with the fence 0, unless the scope has one, or rows. Resolves to what was found instead: the layout of the
   * record, or `"rows"`.
   */
  create(record: ScopeRecord): Promise<{ readonly layout: string } | "rows" | undefined>;
}

/** How often a lost race is repeated: beside 64 others that start at once, five times is usual. */
const MAX_RACES = 60;
/** How many rows are made at a time, at least: as many holders that start at once then write the record once. */
const ROWS_AT_ONCE = 64;
/** Among so many free rows one is drawn after a lost race, and among twice as many after each further one. @internal */
export const DRAWN_FROM = 16;

/** A store on a table. */
export class CompareAndSetStore implements ManagedStore {
  readonly name: string;
  readonly #table: LeaseTable;

  /** @internal */
  constructor(name: string, table: LeaseTable) {
    this.name = name;
    this.#table = table;
  }

  waitsFor(): string | undefined {
    return this.#table.waitsFor?.();
  }

  async acquire(request: AcquireRequest): Promise<Answer> {
    checkAcquire(request);
    const { scope: name, signal } = request;
    let lost = 0;
    return this.#race(signal, async () => {
      const view = await this.#table.readForAcquire(request);
      if (view === undefined) return this.#missing(name, signal);
      const { scope, moment, mine, free, earliestMs } = view;
      // Rows that had to be made first are no lost race: the oldest of them comes first.
      const isFirst = lost === 0 || free[0]?.node === request.node;
      const drawn = isFirst ? 0 : Math.floor(Math.random() * Math.min(DRAWN_FROM * 2 ** (lost - 1), free.length));
      const rows = { mine: () => mine, free: () => free[drawn], earliestMs: () => earliestMs };
      const decision = decideAcquire(scope, rows, request, moment);
      if ("makeTo" in decision) {
        const last = Math.min(scope.nodeTo, Math.max(decision.makeTo, scope.nextNode + ROWS_AT_ONCE - 1));
        await this.#table.makeRows(name, view, last, signal);
        return undefined;
      }
      const { answer, row } = decision;
      const isDone =
        row === undefined || (await this.#table.replaceRow(name, view, free[drawn] as LeaseRow, row, signal));
      if (isDone && !isLostRace(answer)) return answer;
      lost++;
      return undefined;
    });
  }

  async renew(request: RenewRequest): Promise<Answer> {
    checkRenew(request);
    const { scope: name, node, signal } = request;
    return this.#race(signal, async () => {
      const view = await this.#table.readRow(name, node, signal);
      if (view === undefined) return this.#missing(name, signal);
      const { answer, row } = decideRenew(view.scope, view.row, request, view.moment);
      const isDone = row === undefined || (await this.#table.replaceRow(name, view, view.row as LeaseRow, row, signal));
      return isDone ? answer : undefined;
    });
  }

  async release(request: ReleaseRequest): Promise<boolean> {
    checkRelease(request);
    const { scope: name, node, signal } = request;
    return this.#race(signal, async () => {
      const view = await this.#table.readRow(name, node, signal);
      const row = decideRelease(view?.row, request);
      if (view === undefined || row === undefined) return false;
      return (await this.#table.replaceRow(name, view, view.row as LeaseRow, row, signal)) || undefined;
    });
  }

  async ensure(request: EnsureRequest): Promise<void> {
    checkEnsure(request);
    await this.#raise(request.scope, request.behind ? "behind" : "changed", request.signal);
  }

  async init(options: InitOptions): Promise<void> {
    const record = recordOf(options);
    const found = await this.#table.create(record);
    if (found !== undefined) throw alreadyInitialised(record.scope, found === "rows" ? undefined : found.layout);
  }

  async fence(options?: { readonly scope?: string }): Promise<number> {
    return this.#raise(fencedScope(options), "always");
  }

  async #raise(name: string, cause: FenceCause, signal?: AbortSignal): Promise<number> {
    return this.#race(signal, async () => {
      const view = await this.#table.readScope(name, signal);
      if (view === undefined) throw notInitialised(this, name, await this.#table.placeOf(name, signal));
      const raised = decideFence(view.scope, cause, view.moment);
      if (raised === undefined) return view.scope.fenceMs;
      return (await this.#table.replaceScope(name, view, raised, signal)) ? raised.fenceMs : undefined;
    });
  }

  async #missing(scope: string, signal: AbortSignal | undefined): Promise<Answer> {
    return { granted: false, reason: "missing", place: await this.#table.placeOf(scope, signal) };
  }

  /** Repeats an operation until nobody else was faster. */
  async #race<T>(signal: AbortSignal | undefined, run: () => Promise<T | undefined>): Promise<T> {
    for (let races = 0; races < MAX_RACES; races++) {
      signal?.throwIfAborted();
      const result = await run();
      if (result !== undefined) return result;
      await pause(races + 1, signal);
    }
    throw storeUnavailable(`others changed what was read before it could be written, ${MAX_RACES} times`);
  }
}
