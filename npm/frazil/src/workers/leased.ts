/** `leased()`: the generator of an isolate, whose node id is leased. It is called in each request. */
import { Layout, type LayoutInput } from "frazil";
import { requireWorkers, waitUntil } from "#host";
import { wallClock } from "../clock.js";
import { ConfigError, configError } from "../errors.js";
import type { LeaseOptions } from "../lease.js";
import { checkedLease, isStore, LEASE_OPTIONS } from "../lease-options.js";
import { LeasedSnowflake, untilUsable } from "../leased-snowflake.js";
import { DurableObjectStore, type LeasesNamespace } from "../stores/durable-object.js";
import { layoutText } from "../stores/layout-text.js";
import type { LeaseStore } from "../stores/store.js";
import { type Keep, RequestDriver } from "./request-driver.js";

/** The context of a request, as the runtime hands it to `fetch`, `queue`, `scheduled` and others. */
export interface RequestContext {
  waitUntil(promise: Promise<unknown>): void;
}

/** The options of `leased()`. Each has a default. */
export interface WorkersLeaseOptions<L extends LayoutInput = "edge">
  extends Omit<LeaseOptions<L>, "layout" | "windowMs" | "owner" | "renew" | "signal" | "maxWaitMs"> {
  /** What the bits mean. Default: `"edge"` (time 41, node 14, sequence 8). */
  readonly layout?: L;
  /**
   * How long a window lasts, in milliseconds: at least three ticks, at most the `windowMaxMs` of the scope (10 minutes where the
   * object made it by itself). The first request that finds half of it over renews it. Default: 300,000.
   */
  readonly windowMs?: number;
  /** Who holds the node id: a text for people, of at most 200 characters. Default: `"worker"`. */
  readonly owner?: string;
}

const DEFAULTS = {
  known: LEASE_OPTIONS,
  windowMs: 300_000,
  owner: () => "worker",
  renew: "calls",
  isUncopied: true,
} as const;

type Options = { readonly [name: string]: unknown };

/** A generator of this isolate. */
interface Entry {
  readonly ids: LeasedSnowflake<LayoutInput>;
  readonly driver: RequestDriver;
  readonly options: Options | undefined;
}

/** By the identity of the store, and by scope. */
const entries = /* @__PURE__ */ new WeakMap<object, Map<unknown, Entry>>();
/** The stores of namespaces. */
const stores = /* @__PURE__ */ new WeakMap<object, LeaseStore>();

/** What the last call was given and got. */
let last: { source: unknown; options: unknown; entry: Entry } | undefined;

const MODULE_SCOPE =
  "leased() was called at module scope, where a Worker has no clock, no random numbers and no I/O: call it in each request, as in " +
  "const ids = await leased(env.FRAZIL, ctx). While a lease is held that costs nothing";

/**
 * The generator of this isolate, as soon as an ID can be minted. Call it in each request:
 *
 * ```js
 * import { leased } from "frazil/workers";
 *
 * export { FrazilLeases } from "frazil/workers";
 *
 * export default {
 *   async fetch(request, env, ctx) {
 *     const ids = await leased(env.FRAZIL, ctx);
 *     return new Response(ids.nextString());
 *   },
 * };
 * ```
 *
 * All calls in an isolate for one source and scope return the same object. While a lease is held it is returned at once, without
 * I/O and without a promise; if half of the window is over, one request has it renewed beside it. Without a lease each request asks
 * the store itself, for at most `maxAsyncWaitMs`.
 *
 * `source`: a namespace of Durable Objects of the class `FrazilLeases`, or a store. `ctx`: the context of the request; without it the
 * `waitUntil` of `cloudflare:workers` is used. Options of later calls must equal those of the first one.
 *
 * @throws {ConfigError} `STATE_CONFLICT` for other options than before, and at module scope; the errors of `lease()`.
 * @throws {LeaseError} those of `lease()`, after `maxAsyncWaitMs`. `STORE_REFUSED` outside Cloudflare's runtime.
 */
export function leased<const L extends LayoutInput = "edge">(
  source: LeasesNamespace | LeaseStore,
  ctx?: RequestContext,
  options?: WorkersLeaseOptions<L>,
): LeasedSnowflake<L> | Promise<LeasedSnowflake<L>>;
export function leased<const L extends LayoutInput = "edge">(
  source: LeasesNamespace | LeaseStore,
  options: WorkersLeaseOptions<L>,
): LeasedSnowflake<L> | Promise<LeasedSnowflake<L>>;
export function leased(source: unknown, second?: unknown, third?: unknown): unknown {
  const ctx = typeof (second as RequestContext | undefined)?.waitUntil === "function" ? second : undefined;
  const options = ctx === undefined && third === undefined ? second : third;
  if (last !== undefined && last.source === source && last.options === options) {
    const { ids, driver } = last.entry;
    // The whole cost of a lease that is held.
    if (driver.isQuietAt(wallClock())) return ids;
  }
  return look(source, ctx as RequestContext | undefined, options as Options | undefined);
}

function look(source: unknown, ctx: RequestContext | undefined, options: Options | undefined): unknown {
  requireWorkers("leased()");
  const entry = entryOf(storeOf(source), options);
  last = { source, options, entry };
  const { ids, driver } = entry;
  if (driver.isQuietAt(wallClock())) return ids;
  const keep: Keep = ctx === undefined ? waitUntil : (promise) => ctx.waitUntil(promise);
  return driver.isHeld(keep) ? ids : usable(entry);
}

async function usable({ ids, driver }: Entry): Promise<LeasedSnowflake<LayoutInput>> {
  await untilUsable(ids, driver, undefined);
  return ids;
}

function storeOf(source: unknown): LeaseStore {
  if (isStore(source)) return source;
  const known = Object(source) === source ? stores.get(source as object) : undefined;
  const store = known ?? new DurableObjectStore(source as LeasesNamespace);
  stores.set(source as object, store);
  return store;
}

function entryOf(store: LeaseStore, options: Options | undefined): Entry {
  const key = store.identity ?? store;
  const scopes = entries.get(key) ?? new Map<unknown, Entry>();
  const scope = options?.["scope"] ?? "default";
  const known = scopes.get(scope);
  if (known?.driver.isOpen) {
    checkSame(known.options, options);
    return known;
  }
  const entry = newEntry(store, options);
  entries.set(key, scopes.set(scope, entry));
  return entry;
}

function newEntry(store: LeaseStore, options: Options | undefined): Entry {
  try {
    // A grant is drawn from here.
    crypto.getRandomValues(new Uint8Array(1));
  } catch (cause) {
    throw new ConfigError("STATE_CONFLICT", MODULE_SCOPE, { cause });
  }
  const { driven, rest } = checkedLease(store, options === undefined ? {} : options, DEFAULTS);
  const driver = new RequestDriver(driven);
  const { layout = "edge", ...others } = rest;
  const ids = new LeasedSnowflake<LayoutInput>({ layout, ...others }, driver);
  // A copy, since the caller may change its object.
  return { ids, driver, options: options && { ...options } };
}

/** Refuses options that differ from those of the first call. */
function checkSame(first: Options = {}, given: Options = {}): void {
  if (first === given) return;
  for (const name of Object.keys({ ...first, ...given })) {
    const [before, value] = [first[name], given[name]];
    if (before === value || textOf(name, before) === textOf(name, value)) continue;
    throw configError(
      "STATE_CONFLICT",
      name,
      value,
      `must be as in the first call of leased() for this source and scope, ${textOf(name, before)}: an isolate has one generator for ` +
        "them. Pass the same options in every call, or another scope, whose IDs go to another column",
    );
  }
}

/** What an option is if it is not given, where that is decided here. */
const UNGIVEN: Options = {
  scope: "default",
  windowMs: DEFAULTS.windowMs,
  owner: "worker",
  time: "wall",
  layout: "edge",
};

/** An option as text that is equal for equal options. */
function textOf(name: string, given: unknown): string {
  const value = given ?? UNGIVEN[name];
  if (value === undefined) return "which did not give it";
  return name === "layout" ? layoutText(Layout.from(value as LayoutInput)) : JSON.stringify(value);
}
