/**
 * The rules of `LeaseStore` as pure functions of a record and a row, for stores whose transactions run in this process.
 * Stores that decide in the database have the same rules in their statements.
 */
import { type AcquireRequest, FENCE_MARGIN_MS, type Refusal, type RenewRequest, type WindowRequest } from "./store.js";

/** How far beyond the rows that exist a preferred node id may lie: all rows before it are made as well. */
export const REACH = 1024;

/** The record of a scope. */
export interface Scope {
  readonly layout: string;
  readonly nodeTo: number;
  /** Rows are made for the node ids below, and never again: a row that was deleted is not a new one. */
  readonly nextNode: number;
  readonly windowMaxMs: number;
  readonly fenceMs: number;
  readonly incarnation: string;
}

/** The row of a node id. */
export interface LeaseRow {
  readonly untilMs: number;
  readonly grant: string | null;
  readonly nonce: string | null;
}

/** The store at this moment. */
export interface Moment {
  readonly nowMs: number;
  readonly incarnation: string;
}

/** Why a holder may have nothing of a scope, whatever its rows are. */
export function refusalByScope(
  scope: Scope,
  request: WindowRequest,
  { nowMs, incarnation }: Moment,
): Refusal | undefined {
  const refusal = { granted: false, storeNowMs: nowMs } as const;
  if (scope.layout !== request.layout) return { ...refusal, reason: "layout", layout: scope.layout };
  if (scope.windowMaxMs < request.windowMs) return { ...refusal, reason: "window", windowMaxMs: scope.windowMaxMs };
  if (scope.incarnation !== incarnation) return { ...refusal, reason: "incarnation" };
  return undefined;
}

/** The preferred node id, if its row does not exist yet and may be made. */
export const newPreferred = ({ nextNode, nodeTo }: Scope, { node }: AcquireRequest): number | undefined =>
  node !== undefined && node >= nextNode && node <= Math.min(nodeTo, nextNode + REACH - 1) ? node : undefined;

/** Why no node id was granted. `earliestMs`: the first end of all rows. */
export function noneFree(scope: Scope, earliestMs: number, nowMs: number): Refusal {
  const unfencedMs = scope.nextNode <= scope.nodeTo ? 0 : earliestMs;
  const reason = scope.fenceMs > nowMs && unfencedMs <= nowMs ? "fenced" : "exhausted";
  return { granted: false, reason, storeNowMs: nowMs, freeAtMs: Math.max(nowMs, unfencedMs, scope.fenceMs) };
}

/** Why a row is not renewed, if it is not. */
export function refusalToRenew(
  scope: Scope,
  row: LeaseRow | undefined,
  { grant, nonce, untilMs }: RenewRequest,
  nowMs: number,
): Refusal | undefined {
  const refusal = { granted: false, storeNowMs: nowMs } as const;
  const isBehind = row === undefined || row.untilMs < untilMs;
  if (isBehind && scope.fenceMs < nowMs + scope.windowMaxMs) return { ...refusal, reason: "behind" };
  if (untilMs + scope.windowMaxMs <= scope.fenceMs) return { ...refusal, reason: "fenced" };
  if (row?.grant !== grant || (row.untilMs > untilMs && row.nonce !== nonce)) return { ...refusal, reason: "taken" };
  return undefined;
}

/** The fence that `ensure` leaves: at least beyond every window that the rows may have lost. */
export const raisedFence = ({ fenceMs, windowMaxMs }: Scope, nowMs: number): number =>
  Math.max(fenceMs, nowMs + windowMaxMs + FENCE_MARGIN_MS);
