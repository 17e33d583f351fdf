/**
 * The rules of `LeaseStore` as pure functions of a record and its rows, for stores that read, decide in this process, and write: in a
 * transaction, or on condition that nothing was written meanwhile. Stores that decide in the database have the same rules in their
 * statements.
 */
import {
  type AcquireRequest,
  type Answer,
  FENCE_MARGIN_MS,
  type Grant,
  type Refusal,
  type ReleaseRequest,
  type RenewRequest,
  type WindowRequest,
} from "../../lease-store.js";

/** How far beyond the rows that exist a preferred node id may lie: all rows before it are made as well. */
export const REACH = 1024;

/** The incarnation of an unused record: `ensure` sets it without a fence, since nothing was granted. */
export const UNUSED = "";

/** The record of a scope. */
export interface Scope {
  readonly layout: string;
  readonly nodeTo: number;
  /** Rows are made for the node ids below, and never again: a row that was deleted is not a new one. */
  readonly nextNode: number;
  readonly windowMaxMs: number;
  readonly fenceMs: number;
  readonly incarnation: string;
  /**
   * Who else draws node ids from the same numbers, in words for errors: another generator, for its own processes. The next new
   * one is then whatever comes next there, so a preferred node id is taken only if its row exists.
   */
  readonly sharedWith?: string;
}

/** The row of a node id. One that was never granted begins and ends at 0. */
export interface LeaseRow {
  readonly node: number;
  readonly fromMs: number;
  readonly untilMs: number;
  /** `null`: released, or never granted. */
  readonly grant: string | null;
  readonly nonce: string | null;
  readonly owner: string | null;
}

/** A row without a holder, free from `untilMs` on. */
export const freeRow = (node: number, untilMs = 0): LeaseRow => ({
  node,
  fromMs: 0,
  untilMs,
  grant: null,
  nonce: null,
  owner: null,
});

/** The store at this moment. */
export interface Moment {
  readonly nowMs: number;
  readonly incarnation: string;
}

/** What `acquire` looks for among the rows. Each is called at most once, and only if it matters. */
export interface Rows {
  /** The row with the grant of the request. */
  mine(): LeaseRow | undefined;
  /** The preferred row if it has ended, else the one with the oldest end, if that has passed. */
  free(): LeaseRow | undefined;
  /** The first end of all rows. Without a row: undefined, or 0 if the scope does not share its numbers. */
  earliestMs(): number | undefined;
}

/** What an operation comes to: an answer, which may need a row to be written first. */
export interface Decision {
  readonly answer: Answer;
  readonly row?: LeaseRow;
}

/** Rows are missing: those up to this node id are to be made, and then it is decided once more. */
export interface RowsNeeded {
  readonly makeTo: number;
}

/** Why a holder may have nothing of a scope, whatever its rows are. */
function refusalByScope(scope: Scope, request: WindowRequest, { nowMs, incarnation }: Moment): Refusal | undefined {
  const refusal = { granted: false, storeNowMs: nowMs } as const;
  if (scope.layout !== request.layout) return { ...refusal, reason: "layout", layout: scope.layout };
  if (scope.windowMaxMs < request.windowMs) return { ...refusal, reason: "window", windowMaxMs: scope.windowMaxMs };
  if (scope.incarnation !== incarnation) return { ...refusal, reason: "incarnation" };
  return undefined;
}

/** The preferred node id, if its row does not exist yet and may be made. */
const newPreferred = ({ nextNode, nodeTo, sharedWith }: Scope, { node }: AcquireRequest): number | undefined =>
  sharedWith === undefined && node !== undefined && node >= nextNode && node <= Math.min(nodeTo, nextNode + REACH - 1)
    ? node
    : undefined;

/** Why no node id was granted. `earliestMs`: the first end of all rows. */
function noneFree(scope: Scope, earliestMs: number | undefined, nowMs: number): Refusal {
  const { sharedWith } = scope;
  const isUsedUp = scope.nextNode > scope.nodeTo;
  // The others have all numbers, and give none back: neither time nor a fence that passes makes one free.
  if (isUsedUp && earliestMs === undefined && sharedWith !== undefined)
    return { granted: false, reason: "exhausted", storeNowMs: nowMs, sharedWith };
  const unfencedMs = isUsedUp ? (earliestMs ?? 0) : 0;
  const reason = scope.fenceMs > nowMs && unfencedMs <= nowMs ? "fenced" : "exhausted";
  const freeAtMs = Math.max(nowMs, unfencedMs, scope.fenceMs);
  return { granted: false, reason, storeNowMs: nowMs, freeAtMs, ...(sharedWith !== undefined && { sharedWith }) };
}

const leaseOf = ({ node, fromMs, untilMs }: LeaseRow, grant: string, storeNowMs: number): Grant => ({
  granted: true,
  grant,
  node,
  fromMs,
  untilMs,
  storeNowMs,
});

/** `acquire`. Invariant: a window begins at the largest `until` that its row ever had, or at the fence. */
export function decideAcquire(
  scope: Scope,
  rows: Rows,
  request: AcquireRequest,
  moment: Moment,
): Decision | RowsNeeded {
  const { nowMs: storeNowMs } = moment;
  const { grant, nonce, owner, windowMs } = request;
  const mine = rows.mine();
  // With another nonce it was renewed since: a clone that repeats its `acquire` is refused.
  if (mine && mine.nonce !== nonce) return { answer: { granted: false, reason: "taken", storeNowMs } };
  if (mine) return { answer: leaseOf(mine, grant, storeNowMs) };
  const refusal = refusalByScope(scope, request, moment);
  if (refusal) return { answer: refusal };
  if (scope.fenceMs <= storeNowMs) {
    const wanted = newPreferred(scope, request);
    const free = wanted === undefined ? rows.free() : undefined;
    if (free) {
      const fromMs = Math.max(free.untilMs, scope.fenceMs);
      const row = { node: free.node, fromMs, untilMs: storeNowMs + windowMs, grant, nonce, owner };
      return { answer: leaseOf(row, grant, storeNowMs), row };
    }
    const makeTo = wanted ?? scope.nextNode;
    if (makeTo <= scope.nodeTo) return { makeTo };
  }
  return { answer: noneFree(scope, rows.earliestMs(), storeNowMs) };
}

/** `renew`. Invariant: `until` only moves forward; of two holders that know the grant, one finds a nonce that it does not know. */
export function decideRenew(scope: Scope, row: LeaseRow | undefined, request: RenewRequest, moment: Moment): Decision {
  const { nowMs } = moment;
  const { grant, nonce, untilMs, windowMs } = request;
  const refusal = refusalByScope(scope, request, moment);
  if (refusal) return { answer: refusal };
  const refuse = (reason: "behind" | "fenced" | "taken") => ({
    answer: { granted: false, storeNowMs: nowMs, reason } as const,
  });
  const isBehind = row === undefined || row.untilMs < untilMs;
  if (isBehind && scope.fenceMs < nowMs + scope.windowMaxMs) return refuse("behind");
  if (untilMs + scope.windowMaxMs <= scope.fenceMs) return refuse("fenced");
  if (row?.grant !== grant || (row.untilMs > untilMs && row.nonce !== nonce)) return refuse("taken");
  const renewed = { ...row, untilMs: Math.max(row.untilMs, untilMs, nowMs + windowMs), nonce };
  return { answer: leaseOf(renewed, grant, nowMs), row: renewed };
}

/**
 * `release`: the row without its grant, or `undefined` if it is not to be released. Invariant: a late renewal fails; a row that
 * a clone of the holder has renewed stays.
 */
export function decideRelease(row: LeaseRow | undefined, request: ReleaseRequest): LeaseRow | undefined {
  if (row?.grant !== request.grant || row.untilMs > request.heldUntilMs) return undefined;
  return { ...row, untilMs: Math.max(row.fromMs, request.untilMs), grant: null, owner: null };
}

/** When the fence of a scope is raised, besides for another incarnation. */
export type FenceCause = "changed" | "behind" | "always";

/** `ensure` and `fence`: the record with a raised fence, or `undefined` if it stays. Invariant: the fence only grows. */
export function decideFence(scope: Scope, cause: FenceCause, { nowMs, incarnation }: Moment): Scope | undefined {
  const isBehind = cause === "behind" && scope.fenceMs < nowMs + scope.windowMaxMs;
  if (scope.incarnation === incarnation && !isBehind && cause !== "always") return undefined;
  if (scope.incarnation === UNUSED && cause === "changed") return { ...scope, incarnation };
  return { ...scope, incarnation, fenceMs: Math.max(scope.fenceMs, nowMs + scope.windowMaxMs + FENCE_MARGIN_MS) };
}
