/** The generator whose node id is leased: what it adds to `Snowflake`, and the wait until an ID can be minted. */
import { type Health, type LayoutInput, Snowflake, type SnowflakeOptions, type Stats } from "frazil";
import { LeaseError } from "../base/errors.js";
import { hideName } from "../base/printing.js";
import { type AsyncOptions, signalOf } from "../generator/options.js";
import { layoutText } from "../stores/kit/lease/layout-text.js";
import { type LeaseEvents, listenersOf } from "./events.js";
import type { LeaseHealth, LeaseStats } from "./health.js";
import type { GeneratorView, LeaseHolder } from "./holder.js";

/** The condition of a leased generator. */
export type LeasedHealth = Health & { readonly lease: LeaseHealth };

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
  // @ts-expect-error: nobody reads it
  // biome-ignore lint/correctness/noUnusedPrivateClassMembers: a call in a field is left out with the class, and one outside is not
  static readonly #printed = /* @__PURE__ */ hideName(this);
  /** The driver refers to it weakly. */
  readonly #generator: GeneratorView;

  /** @internal */
  constructor(rest: Record<string, unknown>, driver: LeaseHolder) {
    super(...([rest, driver] as unknown as [SnowflakeOptions<L>]));
    this.#generator = driver.start(layoutText(this.layout));
    const { close: closeNow, stats: statsNow, health: healthNow } = this as Snowflake<L>;
    this.ready = async (options) => {
      const signal = signalOf(options);
      signal?.throwIfAborted();
      return untilUsable(healthNow, driver, signal);
    };
    this.close = () => {
      closeNow();
      const generator = this.#generator;
      generator.minting.changed(undefined);
      return driver.close(generator);
    };
    this.stats = () => ({ ...statsNow(), lease: driver.stats() });
    this.health = () => leasedHealth(healthNow(), driver.health(), driver);
  }

  /**
   * Resolves when an ID can be minted. With `renew: "calls"` it first has the lease renewed if half of the window is over, and waits for
   * the answer; if the store does not answer within the time of an attempt (a tenth of the window, at most 10 seconds and
   * `maxAsyncWaitMs`), it still resolves while the window lasts. Rejects with the errors of `lease()`, at the latest after
   * `maxAsyncWaitMs`, and with the reason of the signal. On Workers it is what `leased()` does: a renewal that is due is begun, and is not
   * waited for.
   */
  declare readonly ready: (options?: AsyncOptions) => Promise<void>;
  /**
   * Ends the lease: waits for the attempt to renew that is under way, closes the state, and tells the store that the node id is free.
   * Minting throws `CLOSED` at once. If the store cannot be told, there is an event `refused`, and the node id is free after its window.
   * Without `close()`, as after a crash, nothing repeats either. All requests of the isolate share the result of `leased()` of
   * `frazil/workers`, so do not call this in one of them; it waits for no attempt of another request.
   */
  declare readonly close: () => Promise<void>;
  /** Counters of this generator and of its lease. */
  declare readonly stats: () => LeasedStats;
  /** The condition of the generator and of its lease, for a health check. Issues no ID, and does not ask the store. */
  declare readonly health: () => LeasedHealth;

  /** Calls the listener at each event of that name. */
  readonly on = <E extends keyof LeaseEvents>(event: E, listener: LeaseEvents[E]): this => {
    listenersOf(this.#generator.listeners, event, listener).add(listener);
    return this;
  };

  /** Removes a listener. */
  readonly off = <E extends keyof LeaseEvents>(event: E, listener: LeaseEvents[E]): this => {
    listenersOf(this.#generator.listeners, event, listener).delete(listener);
    return this;
  };

  /** `close()`, for `await using`. The result of `leased()` of `frazil/workers` belongs to the isolate: there it does nothing. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** How far the clock of this machine is from the store's, and what to do. */
function skewText(skewMs: number, hasStoreTime: boolean): string {
  const side = skewMs > 0 ? "ahead of" : "behind";
  const other = hasStoreTime ? "" : ', or use time: "store"';
  return `the clock of this machine is ${Math.abs(skewMs)} ms ${side} the store's\nSet one of them${other}.`;
}

/** Adds the lease to the condition of the generator, with its warnings. */
function leasedHealth(
  health: Health,
  lease: LeaseHealth,
  { windowMs, randomHint, hasStoreTime }: LeaseHolder,
): LeasedHealth {
  const warnings = [...health.warnings];
  const { failures, untilMs, skewMs, problem } = lease;
  if (failures > 0 && untilMs !== undefined)
    warnings.push(
      `the lease was not renewed at the last ${failures === 1 ? "attempt" : `${failures} attempts`}${problem ? `: ${problem.message}` : ""}`,
    );
  if (randomHint) warnings.push(randomHint);
  if (untilMs !== undefined && 2 * Math.abs(skewMs) >= windowMs)
    warnings.push(skewText(skewMs, hasStoreTime).replace("\n", ". "));
  return { ...health, warnings, lease };
}

/** Waits until an ID can be minted, and throws the reason why none can, at the latest after `maxAsyncWaitMs`. */
async function untilUsable(health: () => Health, driver: LeaseHolder, signal: AbortSignal | undefined): Promise<void> {
  let leftMs = driver.maxAsyncWaitMs;
  leftMs -= (await driver.renewIfDue(signal, leftMs)) ?? 0;
  for (;;) {
    const { refusal } = health();
    if (refusal === undefined) return;
    driver.refused(refusal);
    const { code, retryAfterMs = 1 } = refusal;
    const isMissing = code === "LEASE_LOST";
    const isExpired = code === "LEASE_EXPIRED";
    const lease = isExpired && driver.health();
    // If the last attempt failed, that is the reason: the answer before it may have been read long after it was sent.
    const isSkewed = lease && lease.failures === 0 && lease.skewMs >= driver.windowMs;
    const noAnswer = () => driver.problem ?? driver.noAnswer(isMissing ? "acquire" : "renew");
    const why = isMissing || (isExpired && !isSkewed) ? noAnswer() : refusal;
    // Only an answer of the store can come sooner than an error says.
    const isTooLate = leftMs <= 0 || (!isExpired && !isMissing && retryAfterMs > leftMs);
    if (why.retryable && !isTooLate) {
      const waitMs = driver.retryMs(refusal, retryAfterMs, leftMs);
      leftMs -= await driver.wait(Math.min(waitMs, leftMs), signal, refusal);
    } else if (isSkewed)
      throw new LeaseError(code, `the window is over when it begins: ${skewText(lease.skewMs, driver.hasStoreTime)}`, {
        retryable: true,
        retryAfterMs,
      });
    else throw why;
  }
}
