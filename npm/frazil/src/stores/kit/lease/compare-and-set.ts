/**
 * A store on anything that can replace a row on condition that it is unchanged: it reads, decides by `rules.ts`, and writes. On conflict,
 * it reads again.
 *
 * - **One compare-and-set decides** each operation; what was read before has no effect if it has changed since.
 * - **The oldest free row first**; only after a lost race another one of those that were read, so that processes that start at once do not
 *   meet at each. Which one follows from the grant: two requests for one grant try the same row, and different grants different ones.
 */
import type { NodeRange } from "../../../layout/default-nodes.js";
import type {
  AcquireRequest,
  Answer,
  EnsureRequest,
  InitOptions,
  ManagedStore,
  ReleaseRequest,
  RenewRequest,
} from "../../lease-store.js";
import { notInitialised, storeUnavailable } from "../errors.js";
import { type Found, isNew } from "../found-record.js";
import { isLostRace, sleepAfterRace } from "../races.js";
import { withinLimit } from "../set-up-limit.js";
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
  type Decision,
  decideAcquire,
  decideFence,
  decideRelease,
  decideRenew,
  type FenceCause,
  type LeaseRow,
  type Moment,
  type Scope,
} from "./rules.js";

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
  /** The first end of all rows. Without a row: undefined, or 0 if the scope does not share its numbers. */
  readonly earliestMs: number | undefined;
}

/** A row as it was read, and what replaces it. @internal */
export interface Choice<R extends LeaseRow> {
  readonly seen: R;
  readonly row: LeaseRow;
}

/**
 * Where the record and the rows are. Each read is of committed data and newer than the call, and reads the clock of the store
 * after the call began. `undefined`: there is no record, or nothing to keep one in.
 *
 * A store hands a table only views and rows that the table has read, so it does not know what else is in them.
 *
 * @internal
 */
export interface LeaseTable<S extends Scope = Scope, R extends LeaseRow = LeaseRow> {
  /** The node ids of a new scope, of `count`, if something else hands them out. */
  readonly nodesByDefault?: (count: number) => NodeRange;
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
   * As `replaceRow`, for the first of several rows that is as it was read; and none if the grant has a row by then. Resolves to
   * its place among them, or -1. For stores that do this in one operation: it saves a holder most of its lost races.
   */
  replaceFirst?(
    scope: string,
    view: ScopeView<S>,
    choices: readonly Choice<R>[],
    signal: AbortSignal | undefined,
  ): Promise<number>;
  /**
   * Makes the rows from `nextNode` to `last`, which were never granted, unless another client does. It may make fewer, and is called again
   * then.
   */
  makeRows(scope: string, view: ScopeView<S>, last: number, signal: AbortSignal | undefined): Promise<void>;
  /** Replaces the fence and the incarnation of the record, if it is as it was read. */
  replaceScope(scope: string, view: ScopeView<S>, raised: Scope, signal: AbortSignal | undefined): Promise<boolean>;
  /**
   * Writes a record with the fence 0, unless the scope has one, or rows. Resolves to what was found instead.
   */
  create(record: ScopeRecord, signal: AbortSignal): Promise<Found | undefined>;
}

/** How often a lost race is repeated: beside 64 others that start at once, five times is usual. */
const MAX_RACES = 60;
/** How many rows are made at a time, at least: as many holders that start at once then write the record once. */
const ROWS_AT_ONCE = 64;
/** The least number of free rows that one is drawn from after a lost race. @internal */
export const DRAWN_FROM = 16;
/** The number of rows that a store chooses between in one operation, if it can. @internal */
const CHOICES = 8;

/**
 * A number that follows from a grant and a node id, evenly spread: the finalizer of MurmurHash3. For one grant it differs for all
 * node ids.
 */
function drawn(grant: string, node: number): number {
  let mixed = Number.parseInt(grant.slice(0, 8), 16) ^ Math.imul(node, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/**
 * The free rows in the order in which a grant tries them. Two requests for one grant have the same order, although one of them may have
 * read fewer rows: else each would take a row, and the grant can keep only one.
 */
function triedBy<R extends LeaseRow>({ grant, node }: AcquireRequest, free: readonly R[], hasLost: boolean): R[] {
  const order = [...free].sort((a, b) => drawn(grant, a.node) - drawn(grant, b.node));
  const [first] = free;
  // Rows that had to be made first are no lost race: the oldest of them comes first.
  if (first && (!hasLost || first.node === node)) return [first, ...order.filter((row) => row !== first)];
  return order;
}

/** Repeats an operation until there is no conflict. @internal */
export async function untilFirst<T>(
  table: { waitsFor?(): string | undefined },
  signal: AbortSignal | undefined,
  run: () => Promise<T | undefined>,
): Promise<T> {
  for (let races = 0; races < MAX_RACES; races++) {
    signal?.throwIfAborted();
    const result = await run();
    if (result !== undefined) return result;
    await sleepAfterRace(races + 1, signal);
  }
  const known = table.waitsFor?.();
  throw storeUnavailable(
    `others changed what was read before it could be written, ${MAX_RACES} times${known === undefined ? "" : `: ${known}`}`,
  );
}

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
    return untilFirst(this.#table, signal, async () => {
      const view = await this.#table.readForAcquire(request);
      if (view === undefined) return this.#missing(name, signal);
      const { scope, moment, mine, free, earliestMs } = view;
      const decide = (row: LeaseRow | undefined) =>
        decideAcquire(scope, { mine: () => mine, free: () => row, earliestMs: () => earliestMs }, request, moment);
      const tried = triedBy(request, free, lost > 0);
      const decision = decide(tried[0]);
      if ("makeTo" in decision) {
        const last = Math.min(scope.nodeTo, Math.max(decision.makeTo, scope.nextNode + ROWS_AT_ONCE - 1));
        await this.#table.makeRows(name, view, last, signal);
        return undefined;
      }
      if (decision.row === undefined) {
        if (!isLostRace(decision.answer)) return decision.answer;
      } else {
        const answers: Answer[] = [];
        const choices = tried.slice(0, this.#table.replaceFirst ? CHOICES : 1).map((seen) => {
          const { answer, row } = decide(seen) as Required<Decision>;
          answers.push(answer);
          return { seen, row };
        });
        const at = await this.#replaceFirst(name, view, choices, signal);
        if (at >= 0) return answers[at];
      }
      lost++;
      return undefined;
    });
  }

  async renew(request: RenewRequest): Promise<Answer> {
    checkRenew(request);
    const { scope: name, node, signal } = request;
    return untilFirst(this.#table, signal, async () => {
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
    return untilFirst(this.#table, signal, async () => {
      const view = await this.#table.readRow(name, node, signal);
      const row = decideRelease(view?.row, request);
      if (view === undefined || row === undefined) return false;
      return (await this.#table.replaceRow(name, view, view.row as LeaseRow, row, signal)) || undefined;
    });
  }

  async #replaceFirst(
    scope: string,
    view: ScopeView<Scope>,
    choices: readonly Choice<LeaseRow>[],
    signal: AbortSignal | undefined,
  ): Promise<number> {
    if (this.#table.replaceFirst) return this.#table.replaceFirst(scope, view, choices, signal);
    const [{ seen, row }] = choices as [Choice<LeaseRow>];
    return (await this.#table.replaceRow(scope, view, seen, row, signal)) ? 0 : -1;
  }

  async ensure(request: EnsureRequest): Promise<void> {
    checkEnsure(request);
    await this.#raise(request.scope, request.behind ? "behind" : "changed", request.signal);
  }

  async init(options: InitOptions): Promise<boolean> {
    const record = recordOf(options, this.#table.nodesByDefault);
    return isNew(record, await withinLimit(this, "init()", (signal) => this.#table.create(record, signal)));
  }

  async fence(options?: { readonly scope?: string }): Promise<number> {
    const scope = fencedScope(options);
    return withinLimit(this, "fence()", (signal) => this.#raise(scope, "always", signal));
  }

  async #raise(name: string, cause: FenceCause, signal?: AbortSignal): Promise<number> {
    return untilFirst(this.#table, signal, async () => {
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
}
