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
import { configError, type FrazilError } from "./errors.js";
import { Rule } from "./generated/rules.js";
import { checkKeys } from "./keys.js";
import { LeaseDriver, type LeaseEvents, type LeaseHealth, type LeaseStats } from "./lease-driver.js";
import { layoutText } from "./stores/layout-text.js";
import type { LeaseStore } from "./stores/store.js";

export type { LeaseEvents, LeaseHealth, LeaseStats, LeaseWindow } from "./lease-driver.js";
export { layoutText } from "./stores/layout-text.js";
export type {
  AcquireRequest,
  Answer,
  EnsureRequest,
  Grant,
  LeaseStore,
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
  /** The node id to take if it is free, such as the ordinal of a StatefulSet. */
  readonly node?: number;
  /** Who holds the node id: a text for people, of at most 200 characters. Default: host name and process id. */
  readonly owner?: string;
  /**
   * Where the time in the IDs comes from. `"wall"`: the clock of this machine. `"store"`: the store's clock at the last
   * answer and the monotonic time since, so that a wall clock that is set does not stop minting. Default: `"wall"`.
   */
  readonly time?: "wall" | "store";
  /** How far IDs may run ahead of the clock, 0 to 1000 ms, always within the window. Default: 1000. */
  readonly maxLeadMs?: number;
  /** Ends the wait for the first lease when it aborts: `lease()` rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

const LEASE_OPTIONS =
  "scope, windowMs, node, owner, time, signal, layout, epochMs, maxLeadMs, maxWaitMs, maxAsyncWaitMs, sequenceStart";

const DEFAULT_WINDOW_MS = 30_000;
const MAX_OWNER_LENGTH = 200;

/** Options that have a type here, after their checks. */
interface CheckedOptions {
  readonly store: LeaseStore;
  readonly driver: LeaseDriver;
  readonly signal: AbortSignal | undefined;
  readonly rest: Record<string, unknown>;
}

function defaultOwner(): string {
  const { process } = globalThis;
  const hostname = process?.getBuiltinModule?.("node:os")?.hostname?.();
  return hostname ? `${hostname}:${process.pid}`.slice(-MAX_OWNER_LENGTH) : "unknown";
}

function checked(store: unknown, options: unknown): CheckedOptions {
  const verbs = ["acquire", "renew", "release", "ensure"] as const;
  if (!verbs.every((verb) => typeof (store as LeaseStore | undefined)?.[verb] === "function"))
    throw configError("INVALID_ARGUMENT", "store", store, Rule.A_STORE);
  const given = checkKeys("INVALID_OPTION", "options", options, LEASE_OPTIONS) as Record<string, unknown>;
  const {
    scope = "default",
    windowMs = DEFAULT_WINDOW_MS,
    node,
    owner = defaultOwner(),
    time = "wall",
    signal,
    ...rest
  } = given;
  const invalid = (field: string, rule: string, max?: number) =>
    configError("INVALID_OPTION", field, given[field], rule, undefined, max);
  if (typeof scope !== "string" || !/^[a-z][\w-]{0,31}$/i.test(scope)) throw invalid("scope", Rule.NAME_SYNTAX);
  if (typeof owner !== "string" || owner === "" || owner.length > MAX_OWNER_LENGTH)
    throw invalid("owner", Rule.OWNER_TEXT, MAX_OWNER_LENGTH);
  if (time !== "wall" && time !== "store") throw invalid("time", Rule.ID_TIME);
  if ("node" in given && !(Number.isInteger(node) && (node as number) >= 0 && (node as number) <= 0xffffffff))
    throw configError("INVALID_OPTION", "node", node, Rule.WHOLE_NUMBER, 0, 0xffffffff);
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.throwIfAborted !== "function")
    throw invalid("signal", Rule.A_SIGNAL);
  const driver = new LeaseDriver({
    store: store as LeaseStore,
    scope,
    windowMs: windowMs as number,
    owner,
    node: node as number | undefined,
    storeTime: time === "store",
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
  readonly #driver: LeaseDriver;

  /** @internal */
  constructor(rest: Record<string, unknown>, driver: LeaseDriver) {
    super(...([rest, driver] as unknown as [SnowflakeOptions<L>]));
    this.#driver = driver;
    // The driver refers to it weakly, and `close` strongly.
    const minting = driver.start(layoutText(this.layout));
    const { close: closeNow, stats: statsNow, health: healthNow } = this as Snowflake<L>;
    this.close = () => {
      closeNow();
      minting.changed(undefined);
      return driver.close();
    };
    this.stats = () => ({ ...statsNow(), lease: driver.stats() });
    this.health = () => leasedHealth(healthNow(), driver.health());
  }

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
    this.#driver.on(event, listener);
    return this;
  };

  /** Removes a listener. */
  readonly off = <E extends keyof LeaseEvents>(event: E, listener: LeaseEvents[E]): this => {
    this.#driver.off(event, listener);
    return this;
  };

  /** `close()`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Adds the lease to the condition of the generator, with its warnings. */
function leasedHealth(health: Health, lease: LeaseHealth): LeasedHealth {
  const warnings = [...health.warnings];
  const { failures, untilMs, fromMs, skewMs, problem } = lease;
  if (failures > 0 && untilMs !== undefined)
    warnings.push(`the lease was not renewed at the last ${failures} attempts: ${problem?.message}`);
  const windowMs = (untilMs ?? 0) - (fromMs ?? 0);
  if (untilMs !== undefined && Math.abs(skewMs) > windowMs / 2) {
    const side = skewMs > 0 ? "ahead of" : "behind";
    warnings.push(
      `the clock of this machine is ${Math.abs(skewMs)} ms ${side} the store's: set one of them, or use time: "store"`,
    );
  }
  return { ...health, warnings, lease };
}

/**
 * A generator whose node id comes from a store that all machines share. Resolves as soon as an ID can be minted.
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
    await firstLease(ids, driver, signal);
  } catch (error) {
    await ids.close();
    throw error;
  }
  return ids;
}

/** Waits until an ID can be minted, and throws the reason why none can, at the latest after `maxAsyncWaitMs`. */
async function firstLease(
  ids: { health(): LeasedHealth },
  driver: LeaseDriver,
  signal: AbortSignal | undefined,
): Promise<void> {
  let leftMs = driver.maxAsyncWaitMs;
  for (;;) {
    const { refusal } = ids.health();
    if (refusal === undefined) return;
    const problem: FrazilError | undefined = refusal.code === "LEASE_LOST" ? driver.problem : undefined;
    const why = problem ?? refusal;
    if (!why.retryable || leftMs <= 0) throw why;
    leftMs -= await driver.wait(Math.min(refusal.retryAfterMs ?? 1, leftMs), signal);
  }
}
