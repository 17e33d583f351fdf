/**
 * Leases: node ids from a database, for a fleet of machines. No ID repeats, whatever the clocks do: a lease is the right to
 * mint IDs whose time lies within a window, and the store grants each node id to one window at a time.
 *
 * ```js
 * import { lease } from "frazil/lease";
 * import { PostgresStore } from "frazil/stores/postgres";
 *
 * const ids = await lease(new PostgresStore(pool));
 * ids.next(); // 382138004275228672n
 * await ids.close(); // the node id is free at once
 * ```
 */
import type { LayoutInput, SnowflakeOptions } from "frazil";
import type { HostAbortSignal } from "../base/host-types.js";
import { MAX_OWNER_LENGTH } from "../stores/kit/limits.js";
import type { LeaseStore } from "../stores/lease-store.js";
import { LEASE_DEFAULTS } from "./defaults.js";
import { inWorkers } from "./errors.js";
import { LeasedSnowflake } from "./leased-snowflake.js";
import { checkedLease, LEASE_OPTIONS } from "./options.js";
import { hostName } from "./preferred-node.js";
import { LeaseTimerDriver } from "./timer-driver.js";
import { refusingUntilAwaited } from "./unawaited.js";

export { layoutText } from "../stores/kit/lease/layout-text.js";
export type {
  AcquireRequest,
  Answer,
  EnsureRequest,
  Grant,
  InitOptions,
  LeaseStore,
  ManagedStore,
  Refusal,
  RefusalReason,
  ReleaseRequest,
  RenewRequest,
  ScopeOptions,
  ScopeRequest,
  WindowRequest,
} from "../stores/lease-store.js";
export { FENCE_MARGIN_MS } from "../stores/lease-store.js";
export type { LeaseEvents, LeaseWindow } from "./events.js";
export type { LeaseHealth, LeaseStats } from "./health.js";
export { type LeasedHealth, LeasedSnowflake, type LeasedStats } from "./leased-snowflake.js";
export { type PreferredNodeOptions, preferredNode } from "./preferred-node.js";

/** The options of `lease()`. Each has a default. */
export interface LeaseOptions<L extends LayoutInput = LayoutInput>
  extends Omit<SnowflakeOptions<L>, "node" | "unshared" | "now" | "freshness"> {
  /**
   * The name of the ID space, as it was given to `store.init()`: a letter, then at most 31 letters, digits, `-` or `_`.
   * IDs of two scopes may be equal. Default: `"default"`.
   */
  readonly scope?: string;
  /**
   * How long a window lasts, in milliseconds: at least a second and three ticks, at most the `windowMaxMs` of the scope. It is renewed
   * after a third. A store that is away is survived for two thirds of it; a node id whose holder crashed is free after it.
   * Default: 30,000.
   */
  readonly windowMs?: number;
  /** The node id to take if it is free, or its digits: `preferredNode()` knows one. `undefined` is no preference. */
  readonly node?: number | string | undefined;
  /** Who holds the node id: a text for people, of at most 200 characters. Default: host name and process id. */
  readonly owner?: string;
  /**
   * Where the time in the IDs comes from. `"wall"`: the clock of this machine. `"store"`: the store's clock at the last
   * answer and the monotonic time since, so that a wall clock that is set does not stop minting. Default: `"wall"`.
   */
  readonly time?: "wall" | "store";
  /**
   * What renews the lease. `"timer"`: a timer, after a third of the window. `"calls"`: `ready()` and the asynchronous calls,
   * after half of it; nothing runs between calls, for programs that are stopped between requests (AWS Lambda, Cloud Run).
   * Default: `"timer"`.
   */
  readonly renew?: "timer" | "calls";
  /** How far IDs may run ahead of the clock, 0 to 1000 ms, always within the window. Default: 1000. */
  readonly maxLeadMs?: number;
  /** Ends the wait for the first lease when it aborts: `lease()` rejects with the reason of the signal. */
  readonly signal?: HostAbortSignal;
}

function defaultOwner(): string {
  const hostname = hostName();
  return hostname ? `${hostname}:${globalThis.process.pid}`.slice(-MAX_OWNER_LENGTH) : "unknown";
}

const HOST = {
  known: `${LEASE_OPTIONS}, maxWaitMs, renew, signal`,
  defaults: LEASE_DEFAULTS,
  owner: defaultOwner,
  isUncopied: false,
} as const;

/** Whether a Worker was told, once in an isolate. */
let isWarned = false;

const untilAwaited = /* @__PURE__ */ refusingUntilAwaited("lease(store)");

/**
 * A generator whose node id comes from a store that all machines share. Resolves as soon as an ID can be minted. If it
 * rejects, it does so at once, and what was granted meanwhile is released afterwards, within the time of two attempts.
 *
 * @throws {ConfigError} `INVALID_ARGUMENT` for an object that is no store; `INVALID_OPTION`, also for a window longer than
 * the scope allows; the errors of `new Snowflake()`.
 * @throws {LeaseError} `STORE_NOT_INITIALISED` with the call to make, `LAYOUT_MISMATCH`, `STORE_REFUSED`; after
 * `maxAsyncWaitMs`: `STORE_UNAVAILABLE` with the cause, `NODE_IDS_EXHAUSTED` with `retryAfterMs`, `LEASE_EXPIRED` where the
 * clock of this machine is beyond the window.
 * @throws {ClockError} `CLOCK_BACKWARD` where it is before the window for longer than `maxAsyncWaitMs`.
 */
export function lease<const L extends LayoutInput = "default">(
  store: LeaseStore,
  options: LeaseOptions<L> = {},
): Promise<LeasedSnowflake<L>> {
  return untilAwaited(firstLease(store, options));
}

async function firstLease<const L extends LayoutInput>(
  store: LeaseStore,
  options: LeaseOptions<L>,
): Promise<LeasedSnowflake<L>> {
  const { driven, signal, rest } = checkedLease(store, options, HOST);
  const wrong = isWarned ? undefined : inWorkers();
  if (wrong !== undefined) {
    isWarned = true;
    console.warn(`frazil: ${wrong}`);
  }
  const driver = new LeaseTimerDriver(driven);
  signal?.throwIfAborted();
  const ids = new LeasedSnowflake<L>(rest, driver);
  try {
    await ids.ready(signal && { signal });
  } catch (error) {
    // Not awaited: the caller waits no longer than it said. A granted lease is released.
    void ids.close();
    throw error;
  }
  return ids;
}
