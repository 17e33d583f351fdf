/** The options of leases, checked. */
import { configError } from "./errors.js";
import { Rule } from "./generated/rules.js";
import type { DriverOptions } from "./lease-core.js";
import { signalOf } from "./options.js";
import { checkGiven, noStore } from "./stores/given.js";
import { isScope, MAX_OWNER_LENGTH } from "./stores/limits.js";
import type { LeaseStore } from "./stores/store.js";

/** The options that a lease has wherever it is held. */
export const LEASE_OPTIONS =
  "scope, windowMs, node, owner, time, layout, epochMs, maxLeadMs, maxWaitMs, maxAsyncWaitMs, sequenceStart";

/** Options that other calls take. */
const NOT_LEASED = "now, unshared";

/** What differs between hosts. */
export interface LeaseDefaults {
  /** The names of the options. */
  readonly known: string;
  readonly windowMs: number;
  readonly owner: () => string;
  readonly renew: "timer" | "calls";
  /** Whether no copies of the host are made. */
  readonly isUncopied: boolean;
}

/** Options that have a type here, after their checks. `rest` are those of `Snowflake`, which checks them. */
export interface CheckedLease {
  readonly driven: DriverOptions;
  readonly signal: AbortSignal | undefined;
  readonly rest: Record<string, unknown>;
}

/** Whether it has the operations of a store. */
export const isStore = (store: unknown): store is LeaseStore =>
  ["acquire", "renew", "release", "ensure"].every(
    (verb) => typeof (store as Record<string, unknown> | undefined | null)?.[verb] === "function",
  );

export function checkedLease(store: unknown, options: unknown, defaults: LeaseDefaults): CheckedLease {
  if (!isStore(store)) throw noStore(store, Rule.A_STORE);
  const given = checkGiven(options, defaults.known, NOT_LEASED) as Record<string, unknown>;
  for (const name of NOT_LEASED.split(", ")) {
    if (name in given)
      throw configError("INVALID_OPTION", name, given[name], `${Rule.KNOWN_KEY}: it belongs to new Snowflake()`);
  }
  const {
    scope = "default",
    windowMs = defaults.windowMs,
    node,
    owner = defaults.owner(),
    time = "wall",
    renew = defaults.renew,
    signal,
    ...rest
  } = given;
  const invalid = (field: string, rule: string, max?: number) =>
    configError("INVALID_OPTION", field, given[field], rule, undefined, max);
  if (!isScope(scope)) throw invalid("scope", Rule.NAME_SYNTAX);
  if (typeof owner !== "string" || owner === "" || owner.length > MAX_OWNER_LENGTH)
    throw invalid("owner", Rule.SHORT_TEXT, MAX_OWNER_LENGTH);
  if (time !== "wall" && time !== "store") throw invalid("time", Rule.ID_TIME);
  if (renew !== "timer" && renew !== "calls") throw invalid("renew", Rule.RENEWAL);
  signalOf({ signal });
  const driven = {
    store,
    scope,
    windowMs: windowMs as number,
    owner,
    // The core checks it.
    hasNode: node !== undefined,
    node,
    storeTime: time === "store",
    byCalls: renew === "calls",
    isUncopied: defaults.isUncopied,
  };
  return { driven, signal: signal as AbortSignal | undefined, rest };
}
