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
import { type Health, type LayoutInput, Snowflake, type SnowflakeOptions, type Stats } from "frazil";
import { configError, LeaseError } from "./errors.js";
import { Rule } from "./generated/rules.js";
import { type Attached, LeaseDriver } from "./lease-driver.js";
import { type LeaseEvents, type LeaseHealth, type LeaseStats, listenersOf } from "./lease-events.js";
import { type AsyncOptions, signalOf } from "./options.js";
import { hostName } from "./preferred-node.js";
import { checkGiven, noStore } from "./stores/given.js";
import { layoutText } from "./stores/layout-text.js";
import { isScope, MAX_OWNER_LENGTH } from "./stores/limits.js";
import type { LeaseStore } from "./stores/store.js";

export type { LeaseEvents, LeaseHealth, LeaseStats, LeaseWindow } from "./lease-events.js";
export { type PreferredNodeOptions, preferredNode } from "./preferred-node.js";
export { layoutText } from "./stores/layout-text.js";
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
} from "./stores/store.js";
export { FENCE_MARGIN_MS } from "./stores/store.js";

/** The options of `lease()`. Each has a default. */
export interface LeaseOptions<L extends LayoutInput = "default">
  extends Omit<SnowflakeOptions<L>, "node" | "unshared" | "now"> {
  /**
   * The name of the ID space, as it was given to `store.init()`: a letter, then at most 31 letters, digits, `-` or `_`.
   * IDs of two scopes may be equal. Default: `"default"`.
   */
  readonly scope?: string;
  /**
   * How long a window lasts, in milliseconds: at least three ticks, at most the `windowMaxMs` of the scope. It is renewed
   * after a third. A store that is away is survived for two thirds of it; a node id whose holder crashed is free after it.
   * Default: 30,000.
   */
  readonly windowMs?: number;
  /** The node id to take if it is free: `preferredNode()` knows one. `undefined` is no preference. */
  readonly node?: number | undefined;
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
  readonly signal?: AbortSignal;
}

const LEASE_OPTIONS =
  "scope, windowMs, node, owner, time, renew, signal, layout, epochMs, maxLeadMs, maxWaitMs, maxAsyncWaitMs, sequenceStart";

/** Options that other calls take. */
const NOT_LEASED = "now, unshared";

const DEFAULT_WINDOW_MS = 30_000;

/** Options that have a type here, after their checks. */
interface CheckedOptions {
  readonly store: LeaseStore;
  readonly driver: LeaseDriver;
  readonly signal: AbortSignal | undefined;
  readonly rest: Record<string, unknown>;
}

function defaultOwner(): string {
  const hostname = hostName();
  return hostname ? `${hostname}:${globalThis.process.pid}`.slice(-MAX_OWNER_LENGTH) : "unknown";
}

function checked(store: unknown, options: unknown): CheckedOptions {
  const verbs = ["acquire", "renew", "release", "ensure"] as const;
  if (!verbs.every((verb) => typeof (store as LeaseStore | undefined)?.[verb] === "function"))
    throw noStore(store, Rule.A_STORE);
  const given = checkGiven(options, LEASE_OPTIONS, NOT_LEASED) as Record<string, unknown>;
  for (const name of NOT_LEASED.split(", ")) {
    if (name in given)
      throw configError("INVALID_OPTION", name, given[name], `${Rule.KNOWN_KEY}: it belongs to new Snowflake()`);
  }
  const {
    scope = "default",
    windowMs = DEFAULT_WINDOW_MS,
    node,
    owner = defaultOwner(),
    time = "wall",
    renew = "timer",
    signal,
    ...rest
  } = given;
  const invalid = (field: string, rule: string, max?: number) =>
    configError("INVALID_OPTION", field, given[field], rule, undefined, max);
  if (!isScope(scope)) throw invalid("scope", Rule.NAME_SYNTAX);
  if (typeof owner !== "string" || owner === "" || owner.length > MAX_OWNER_LENGTH)
    throw invalid("owner", Rule.OWNER_TEXT, MAX_OWNER_LENGTH);
  if (time !== "wall" && time !== "store") throw invalid("time", Rule.ID_TIME);
  if (renew !== "timer" && renew !== "calls") throw invalid("renew", Rule.RENEWAL);
  signalOf({ signal });
  const driver = new LeaseDriver({
    store: store as LeaseStore,
    scope,
    windowMs: windowMs as number,
    owner,
    // The core checks it.
    hasNode: node !== undefined,
    node,
    storeTime: time === "store",
    byCalls: renew === "calls",
  });
  return { store: store as LeaseStore, driver, signal: signal as AbortSignal | undefined, rest };
}

/** The condition of a leased generator. */
export interface LeasedHealth extends Health {
  readonly lease: LeaseHealth;
}

/** The counters of a leased generator. */
export interface LeasedStats extends Stats {
  readonly lease: LeaseStats;
}

/**
 * A generator whose node id is leased. It mints as every `Snowflake` does. Between two leases synchronous calls throw
 * `LEASE_LOST`, and after the end of the window `LEASE_EXPIRED`, both with `retryAfterMs`; asynchronous calls wait.
 */
export class LeasedSnowflake<const L extends LayoutInput = "default"> extends Snowflake<L> {
  /** Keeps the name when a minifier renames the class. @internal */
  static override readonly name: string = "LeasedSnowflake";
  /** The driver refers to it weakly. */
  readonly #attached: Attached;

  /** @internal */
  constructor(rest: Record<string, unknown>, driver: LeaseDriver) {
    super(...([rest, driver] as unknown as [SnowflakeOptions<L>]));
    this.#attached = driver.start(layoutText(this.layout));
    const { close: closeNow, stats: statsNow, health: healthNow } = this as Snowflake<L>;
    this.ready = async (options) => {
      const signal = signalOf(options);
      signal?.throwIfAborted();
      return untilUsable(this, driver, signal);
    };
    this.close = () => {
      closeNow();
      const attached = this.#attached;
      attached.minting.changed(undefined);
      return driver.close(attached);
    };
    this.stats = () => ({ ...statsNow(), lease: driver.stats() });
    this.health = () => leasedHealth(healthNow(), driver.health(), driver.windowMs);
  }

  /**
   * Resolves when an ID can be minted. With `renew: "calls"` it first has the lease renewed if half of the window is over, and
   * waits for the answer; if the store does not answer within the time of an attempt (a tenth of the window, at most 10
   * seconds and `maxAsyncWaitMs`), and the window is not over, it resolves nevertheless. Rejects with the errors of
   * `lease()`, at the latest after `maxAsyncWaitMs`, and with the reason of the signal.
   */
  declare readonly ready: (options?: AsyncOptions) => Promise<void>;
  /**
   * Ends the lease: waits for the attempt to renew that is under way, closes the state, and tells the store that the node
   * id is free. Minting throws `CLOSED` at once. If the store cannot be told, there is an event `refused`, and the node id
   * is free after its window. Without `close()`, as after a crash, nothing repeats either.
   */
  declare readonly close: () => Promise<void>;
  /** Counters of this generator and of its lease. */
  declare readonly stats: () => LeasedStats;
  /** The condition of the generator and of its lease, for a health check. Issues no ID, and does not ask the store. */
  declare readonly health: () => LeasedHealth;

  /** Calls the listener at each event of that name. */
  readonly on = <E extends keyof LeaseEvents>(event: E, listener: LeaseEvents[E]): this => {
    listenersOf(this.#attached.listeners, event, listener).add(listener);
    return this;
  };

  /** Removes a listener. */
  readonly off = <E extends keyof LeaseEvents>(event: E, listener: LeaseEvents[E]): this => {
    listenersOf(this.#attached.listeners, event, listener).delete(listener);
    return this;
  };

  /** `close()`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** How far the clock of this machine is from the store's, and what to do. */
function skewText(skewMs: number): string {
  const side = skewMs > 0 ? "ahead of" : "behind";
  return `the clock of this machine is ${Math.abs(skewMs)} ms ${side} the store's: set one of them, or use time: "store"`;
}

/** Adds the lease to the condition of the generator, with its warnings. */
function leasedHealth(health: Health, lease: LeaseHealth, windowMs: number): LeasedHealth {
  const warnings = [...health.warnings];
  const { failures, untilMs, skewMs, problem } = lease;
  if (failures > 0 && untilMs !== undefined)
    warnings.push(
      `the lease was not renewed at the last ${failures === 1 ? "attempt" : `${failures} attempts`}${problem ? `: ${problem.message}` : ""}`,
    );
  if (untilMs !== undefined && 2 * Math.abs(skewMs) >= windowMs) warnings.push(skewText(skewMs));
  return { ...health, warnings, lease };
}

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
export async function lease<const L extends LayoutInput = "default">(
  store: LeaseStore,
  options: LeaseOptions<L> = {},
): Promise<LeasedSnowflake<L>> {
  const { driver, signal, rest } = checked(store, options);
  signal?.throwIfAborted();
  const ids = new LeasedSnowflake<L>(rest, driver);
  try {
    await untilUsable(ids, driver, signal);
  } catch (error) {
    // Not awaited: the caller waits no longer than it said. What was granted is released.
    void ids.close();
    throw error;
  }
  return ids;
}

/** Waits until an ID can be minted, and throws the reason why none can, at the latest after `maxAsyncWaitMs`. */
async function untilUsable(
  ids: { health(): LeasedHealth },
  driver: LeaseDriver,
  signal: AbortSignal | undefined,
): Promise<void> {
  let leftMs = driver.maxAsyncWaitMs;
  leftMs -= (await driver.renewIfDue(signal, leftMs)) ?? 0;
  for (;;) {
    const { refusal, lease } = ids.health();
    if (refusal === undefined) return;
    driver.refused(refusal);
    const { code, retryAfterMs = 1 } = refusal;
    const isMissing = code === "LEASE_LOST";
    const isExpired = code === "LEASE_EXPIRED";
    // If the last attempt failed, that is the reason: the answer before it may have been read long after it was sent.
    const isSkewed = isExpired && lease.failures === 0 && lease.skewMs >= driver.windowMs;
    const noAnswer = () => driver.problem ?? driver.noAnswer(isMissing ? "acquire" : "renew");
    const why = isMissing || (isExpired && !isSkewed) ? noAnswer() : refusal;
    // Only an answer of the store can come sooner than an error says.
    const isTooLate = leftMs <= 0 || (!isExpired && !isMissing && retryAfterMs > leftMs);
    if (why.retryable && !isTooLate) leftMs -= await driver.wait(Math.min(retryAfterMs, leftMs), signal);
    else if (isSkewed)
      throw new LeaseError(code, `the window is over when it begins: ${skewText(lease.skewMs)}`, {
        retryable: true,
        retryAfterMs,
      });
    else throw why;
  }
}
