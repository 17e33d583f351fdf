/** The options of leases, checked. */
import { configError } from "../base/errors.js";
import { unknownKey } from "../base/option-keys.js";
import { PackageRule } from "../base/package-rules.js";
import { Rule } from "../generated/rules.js";
import { signalOf } from "../generator/options.js";
import { checkGiven, nameOfStore, noStore } from "../stores/kit/argument-errors.js";
import { isScope, MAX_OWNER_LENGTH } from "../stores/kit/limits.js";
import type { LeaseStore } from "../stores/lease-store.js";
import type { HolderOptions } from "./core-calls.js";

/** The options that a lease has wherever it is held. */
export const LEASE_OPTIONS =
  "scope, windowMs, node, owner, time, layout, epochMs, maxLeadMs, maxAsyncWaitMs, sequenceStart";

/** Options that other calls take. */
export const NOT_LEASED = "now, unshared";

/** What differs between hosts. */
export interface LeaseHost {
  /** The names of the options. */
  readonly known: string;
  /** Their defaults. The core decides the others. */
  readonly defaults: { readonly [option: string]: unknown };
  /** The default of `owner`, if it must be found out. */
  readonly owner?: () => string;
  /** Whether no copies of the host are made. */
  readonly isUncopied: boolean;
}

/** Options that have a type here, after their checks. `Snowflake` checks `rest`, its own options. */
export interface CheckedLease {
  readonly driven: HolderOptions;
  readonly signal: AbortSignal | undefined;
  readonly rest: Record<string, unknown>;
}

/** Whether it has the operations of a store. */
export const isStore = (store: unknown): store is LeaseStore =>
  ["acquire", "renew", "release", "ensure"].every(
    (verb) => typeof (store as Record<string, unknown> | undefined | null)?.[verb] === "function",
  );

export function checkedLease(store: unknown, options: unknown, host: LeaseHost): CheckedLease {
  if (!isStore(store)) throw noStore(store, PackageRule.A_STORE);
  const name = nameOfStore(store);
  const given = checkGiven(options, host.known, NOT_LEASED) as Record<string, unknown>;
  for (const option of NOT_LEASED.split(", ")) {
    if (option in given)
      throw configError(
        "INVALID_OPTION",
        option,
        given[option],
        unknownKey("INVALID_OPTION", option, "It belongs to new Snowflake()."),
      );
  }
  for (const [option, value] of Object.entries(host.defaults)) if (given[option] === undefined) given[option] = value;
  const { scope, windowMs, node, owner = host.owner?.(), time, renew, signal, ...rest } = given;
  const invalid = (field: string, rule: string, max?: number) =>
    configError("INVALID_OPTION", field, given[field], rule, undefined, max);
  if (!isScope(scope)) throw invalid("scope", Rule.NAME_SYNTAX);
  if (typeof owner !== "string" || owner === "" || owner.length > MAX_OWNER_LENGTH)
    throw invalid("owner", PackageRule.SHORT_TEXT, MAX_OWNER_LENGTH);
  if (time !== "wall" && time !== "store") throw invalid("time", PackageRule.ID_TIME);
  if (renew !== "timer" && renew !== "calls") throw invalid("renew", PackageRule.RENEWAL);
  signalOf({ signal });
  const driven = {
    store,
    name,
    scope,
    windowMs: windowMs as number,
    owner,
    // The core checks it.
    hasNode: node !== undefined,
    node,
    storeTime: time === "store",
    byCalls: renew === "calls",
    isUncopied: host.isUncopied,
  };
  return { driven, signal: signal as AbortSignal | undefined, rest };
}
