/**
 * What a lease store is: four atomic operations on rows of node ids. Every store in this folder implements this
 * interface, and so can yours: `DocumentStore` makes one of two functions, and `frazil/testing/lease-contract` tests it.
 *
 * A store has a record for each scope (incarnation, fence, longest window, layout, range of node ids) and a row for each of its node ids:
 * `from`, `until`, `grant`, `nonce`, `owner`. All times are Unix milliseconds of the store's clock.
 *
 * - **One window at a time**: a node id is granted from the largest `until` that it ever had, and never before.
 * - **Whole answers**: every grant is answered as a whole lease, since an earlier answer may have been lost.
 * - **A refusal says why**, so that the holder knows whether to retry, to call `ensure`, or to take another node id.
 */
import type { HostAbortSignal } from "../base/host-types.js";
import type { LayoutInput } from "../layout/index.js";

/** A lease: the right to mint IDs of `node` whose time is in `[fromMs, untilMs)`. */
export interface Grant {
  readonly granted: true;
  /** The identity of the lease: the 32 hexadecimal digits that the holder drew for it. */
  readonly grant: string;
  /** The node id; 0 for a layout without a node field. */
  readonly node: number;
  readonly fromMs: number;
  readonly untilMs: number;
  /** The time of the store's clock. */
  readonly storeNowMs: number;
}

/**
 * Why a store granted nothing. If several apply, the first of: `"missing"`, `"taken"` of `acquire`, `"layout"`,
 * `"window"`, `"incarnation"`, `"behind"`, `"fenced"`, and then the rest.
 *
 * - `"taken"`: for `renew`: the row has another grant or none (it was released), or a renewal that this holder does not know
 *   (a clone of the process). Also if the row is missing and the fence covers that. For `acquire`: the lease that is asked
 *   for was renewed since.
 * - `"fenced"`: for `renew`: the fence of the scope is beyond the end of this window by the longest window, so the node id
 *   may be granted to another holder. For `acquire`: some node id would be free, but the fence has not passed.
 * - `"incarnation"`: the store is not the one that the record of the scope was written by (a failover, a restore). Call
 *   `ensure`.
 * - `"behind"`: the row is missing or older than what this holder knows, so the store has lost writes, and the fence does not
 *   cover that yet. Call `ensure` with `behind`.
 * - `"layout"`: the scope belongs to the layout in `layout`.
 * - `"window"`: the window is longer than `windowMaxMs`.
 * - `"missing"`: the store has no record of the scope, or no tables.
 * - `"exhausted"`: every node id is held. The next one is free at `freeAtMs`.
 */
export type RefusalReason =
  | "taken"
  | "fenced"
  | "incarnation"
  | "behind"
  | "layout"
  | "window"
  | "missing"
  | "exhausted";

/** A statement without a grant. */
export interface Refusal {
  readonly granted: false;
  readonly reason: RefusalReason;
  /** The time of the store's clock. Absent for `"missing"`. */
  readonly storeNowMs?: number;
  /** For `"missing"`: where the store looked, in words for errors. */
  readonly place?: string;
  /** For `"exhausted"`, and for `"fenced"` of `acquire`: when the next node id is free. */
  readonly freeAtMs?: number;
  /**
   * For `"exhausted"`, if another generator draws node ids from the same numbers: who that is, in words for errors. Without a
   * node id of the scope's own, `freeAtMs` is absent, since none gets free.
   */
  readonly sharedWith?: string;
  /** For `"window"`: the longest window of the scope. */
  readonly windowMaxMs?: number;
  /** For `"layout"`: the layout of the scope, as `layoutText` writes it. */
  readonly layout?: string;
}

/** What `acquire` and `renew` answer. */
export type Answer = Grant | Refusal;

/** What every operation names. */
export interface ScopeRequest {
  /** The name of the ID space: a letter, then at most 31 letters, digits, `-` or `_`. */
  readonly scope: string;
  /**
   * Aborts when the caller does not wait for the answer any more. The name of its reason is `TimeoutError`, as with
   * `AbortSignal.timeout()`, if the time of the attempt is over: then the connection may be broken.
   */
  readonly signal?: HostAbortSignal;
}

/** What `acquire` and `renew` share. */
export interface WindowRequest extends ScopeRequest {
  /** The identity of the lease: 32 hexadecimal digits. Its retries have the same. */
  readonly grant: string;
  /** The identity of the attempt: 32 hexadecimal digits. Its retries have the same. */
  readonly nonce: string;
  /** The length of the window, in milliseconds. */
  readonly windowMs: number;
  /** The layout, as `layoutText` writes it. */
  readonly layout: string;
}

/** Takes a node id for a window. */
export interface AcquireRequest extends WindowRequest {
  /** The node id to take if it is free. */
  readonly node?: number;
  /** A label for people: who holds the node id. It is never an identity. At most 200 characters. */
  readonly owner: string;
}

/** Extends the window of a node id. */
export interface RenewRequest extends WindowRequest {
  readonly node: number;
  /** The end of the window that this holder knows. */
  readonly untilMs: number;
}

/** Gives a node id back before its window ends. */
export interface ReleaseRequest extends ScopeRequest {
  readonly grant: string;
  readonly node: number;
  /** From when the node id is free: everything that was minted ended before. */
  readonly untilMs: number;
  /** The end of the window that this holder knows. */
  readonly heldUntilMs: number;
}

/** Tells a scope that its store is another one, or has lost writes. */
export interface EnsureRequest extends ScopeRequest {
  /** Whether a row was found to be older than what a holder knows. */
  readonly behind: boolean;
}

/** What a store keeps of a scope. Written once, by `init`. */
export interface ScopeOptions {
  /** The name of the ID space. Default: `"default"`. */
  readonly scope?: string;
  /**
   * The node ids to grant, both ends included. Default: all of the layout but the last one, which is that of `Snowflake.local()`. A
   * layout with one node id has it for either.
   */
  readonly nodes?: { readonly from: number; readonly to: number };
  /** The longest window that a holder may ask for, in milliseconds. Default: 60,000. */
  readonly windowMaxMs?: number;
}

/** What `init` is given. */
export interface InitOptions extends ScopeOptions {
  /** The layout of all IDs of the scope: a `Layout`, a definition, or the name of a built-in one. */
  readonly layout: LayoutInput;
}

/** Grants node ids. Each operation is one atomic step in the store. */
export interface LeaseStore {
  /** The name of the store in errors and `health()`, such as `"postgres"`. */
  readonly name: string;
  /**
   * What stands for the store in a cache: two store objects with the same identity are the same store. For a store that is made for
   * each request on something that lives longer, such as a binding of a Worker.
   */
  readonly identity?: object;
  /**
   * Why an operation that is under way may be without an answer, in words for the error of its time-out, such as that the client has no
   * connection. It makes no request, and does not throw.
   */
  waitsFor?(): string | undefined;
  /**
   * Grants a node id for `[from, now + windowMs)`. The first that applies:
   *
   * 1. The row with this `grant` and this `nonce` is answered as it is (a retry after a lost answer), whatever the
   *    incarnation and the fence. A row with this `grant` and another `nonce` was renewed since: `"taken"`. If it were
   *    answered too, a clone of the process would get the window that the other copy has renewed, however long after the
   *    cloning.
   * 2. The preferred node id, if it is free; else the free one with the oldest `until`; else a new one of the range.
   *    Free: `max(until, fence) <= now`. The window begins at `max(until, fence)`; `grant`, `nonce` and `owner` are stored.
   * 3. Refused.
   *
   * Rows are made on demand, in the order of the node ids, so that a row that was deleted is not mistaken for a new one. A
   * store may ignore a preferred node id that is far beyond the rows that exist (the stores of this package: by 1,024).
   *
   * Every operation rejects with `STORE_UNAVAILABLE` if it may or may not have taken place. It rejects with `STORE_REFUSED` if the store
   * must be set up in another way first, with `INVALID_ARGUMENT` for a request that no store can take, and with the reason of the signal.
   */
  acquire(request: AcquireRequest): Promise<Answer>;
  /**
   * Moves `until` to `max(until, request.untilMs, now + windowMs)` and stores the nonce, if all of this holds:
   *
   * - the row has this `grant`, and either `row.until <= request.untilMs` or the nonce of this request;
   * - `request.untilMs + windowMaxMs > fence`;
   * - the incarnation is the one of the scope's record;
   * - `row.until >= request.untilMs`, or `fence >= now + windowMaxMs` (a row that went back is healed only under a fence that
   *   covers every window that may be lost).
   *
   * Succeeds after `until` as well, unless another holder has the node id. The refusal names the first that applies:
   * `"incarnation"`; `"behind"` (`row.until` is earlier than `request.untilMs` and the fence does not cover it, whichever grant
   * the row has, or the row is missing); `"fenced"`; `"taken"`.
   */
  renew(request: RenewRequest): Promise<Answer>;
  /**
   * If the row has this `grant` and `row.until <= request.heldUntilMs`: sets `until = max(from, request.untilMs)` and removes the grant, so
   * that a late renewal fails. The holder has stopped minting before. A later `until` belongs to a clone of the process, which still mints:
   * the node id stays taken. Resolves to whether that was done, and to `false` without tables.
   */
  release(request: ReleaseRequest): Promise<boolean>;
  /**
   * Compares the incarnations of the store and the record. If they differ, or `behind` is set and the fence is below `now + windowMaxMs`:
   * stores the incarnation and raises the fence to `now + windowMaxMs + FENCE_MARGIN_MS`. The fence only grows.
   *
   * Rejects with `STORE_NOT_INITIALISED` if the scope has no record.
   */
  ensure(request: EnsureRequest): Promise<void>;
}

/**
 * A store with the calls for those who run it: before the first lease, and after a restore. Every store of this package has them.
 * `lease()` makes none of them, so a store of your own may do without.
 */
export interface ManagedStore extends LeaseStore {
  /**
   * Makes the tables unless they exist. It runs DDL only, and may run at each start and in several processes at once. A store
   * without tables does not have it.
   *
   * @throws {LeaseError} `STORE_REFUSED`, `STORE_UNAVAILABLE`.
   */
  migrate?(): Promise<void>;
  /**
   * Writes the record of a scope, with the fence 0. Call it once for each scope, when the scope is new: never at each start,
   * since an empty store and one that has lost its rows look the same. Resolves to whether it made the record: a scope that has
   * one of the same layout and node ids stays as it is, with its own `windowMaxMs`.
   *
   * @throws {ConfigError} `STATE_CONFLICT` if the scope has another record, or rows without one; `INVALID_OPTION`.
   * @throws {LeaseError} `STORE_NOT_INITIALISED` without the tables; `STORE_REFUSED`, `STORE_UNAVAILABLE`.
   */
  init(options: InitOptions): Promise<boolean>;
  /**
   * Raises the fence: no window of the scope begins before it has passed. Call it after the store was restored from a backup
   * or a snapshot, before any generator starts. Resolves to its time, in Unix milliseconds.
   *
   * @throws {LeaseError} `STORE_NOT_INITIALISED`, `STORE_REFUSED`, `STORE_UNAVAILABLE`.
   */
  fence(options?: { readonly scope?: string }): Promise<number>;
}

/**
 * The margin of a fence beyond the longest window, in milliseconds: how far the clocks of two store hosts may differ, less what a
 * store cannot know of its own clock (etcd and MySQL: 1,000).
 */
export const FENCE_MARGIN_MS = 5000;
