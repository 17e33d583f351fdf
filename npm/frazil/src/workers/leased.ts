/** `leased()`: the generator of an isolate, whose node id is leased. It is called in each request. */
import { Layout, type LayoutInput } from "frazil";
import { wallClock } from "../base/clock.js";
import { withoutValue } from "../base/value-text.js";
import { nodeGiven } from "../generator/request.js";
import { WORKER_LEASE_DEFAULTS } from "../lease/defaults.js";
import type { LeaseOptions } from "../lease/index.js";
import { LeasedSnowflake } from "../lease/leased-snowflake.js";
import { checkedLease, isStore, LEASE_OPTIONS, NOT_LEASED } from "../lease/options.js";
import { refusingUntilAwaited } from "../lease/unawaited.js";
import type { LeasesNamespace, OfLeases } from "../stores/durable-object/index.js";
import { checkGiven } from "../stores/kit/argument-errors.js";
import { layoutText } from "../stores/kit/lease/layout-text.js";
import type { LeaseStore } from "../stores/lease-store.js";
import { LeaseRequestDriver } from "./lease-request-driver.js";
import {
  checkSame,
  differenceOf,
  isContext,
  keepOf,
  msOfDate,
  type Options,
  ofIsolate,
  type RequestContext,
  requireRequest,
  storeOf,
} from "./request-context.js";

const untilAwaited = /* @__PURE__ */ refusingUntilAwaited("leased(env.FRAZIL, ctx)");

/** The options of `leased()`. Each has a default. */
export interface WorkersLeaseOptions<L extends LayoutInput = LayoutInput>
  extends Omit<LeaseOptions<L>, "layout" | "windowMs" | "owner" | "renew" | "signal" | "maxWaitMs"> {
  /** What the bits mean. Default: `"edge"` (time 41, node 14, sequence 8). */
  readonly layout?: L;
  /**
   * How long a window lasts, in milliseconds: at least a second and three ticks, at most the `windowMaxMs` of the scope (10 minutes
   * where the object made it by itself). The first request that finds half of it over renews it. Default: 300,000.
   */
  readonly windowMs?: number;
  /** Who holds the node id: a text for people, of at most 200 characters. Default: `"worker"`. */
  readonly owner?: string;
}

/** The default of each option. `node` and `epochMs` have none here. */
const DEFAULTS: Options = {
  ...WORKER_LEASE_DEFAULTS,
  layout: "edge",
  owner: "worker",
  maxLeadMs: 1000,
  maxAsyncWaitMs: 5000,
  sequenceStart: "zero",
};

/** What an option is. */
const optionOf = (name: string, options: Options | undefined) => {
  const value = options?.[name];
  return value === undefined ? DEFAULTS[name] : value;
};

/** A generator of this isolate. */
interface Entry {
  readonly ids: LeasedSnowflake<LayoutInput>;
  readonly driver: LeaseRequestDriver;
  readonly options: Options | undefined;
}

type Scopes = Map<unknown, Entry>;

/** By the identity of the store, and by scope. */
const entries = /* @__PURE__ */ new WeakMap<object, Scopes>();

/**
 * The same, of the sources with a generator in use. An isolate has one or a few of them; one whose every request has another one has a
 * node id for each request.
 */
let sources: Scopes[] = [];
const MAX_SOURCES = 16;

const isInUse = ({ driver }: Entry) => driver.isInUse;

/** Takes note of a source that gets its first generator in use. */
function checkSources(scopes: Scopes): void {
  sources = sources.filter((known) => known !== scopes && [...known.values()].some(isInUse));
  if (sources.length === MAX_SOURCES)
    throw withoutValue("INVALID_ARGUMENT", "source", `the ${MAX_SOURCES + 1}th object in this isolate`, SOURCE_RULE);
  sources.push(scopes);
}

const SOURCE_RULE =
  "must be the same object in each request, since each one has its own node id\nPass env.FRAZIL itself, and keep what a library that " +
  "wraps env, a call of jurisdiction() or a constructor of a store returns in a variable of the module.";

/** What the last call was given and got, if the same object means the same in the next call. */
let last: { source: unknown; options: Options | undefined; scope: unknown; entry: Entry } | undefined;

/** Whether the options are those of the last call. The scope is compared besides, since a frozen object may have a getter. */
const areLast = (options: unknown, { options: before, scope }: { options: Options | undefined; scope: unknown }) =>
  options === before && (before === undefined || before["scope"] === scope);

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
 * `waitUntil` of `cloudflare:workers` is used. Options of later calls must equal those of the first one. Those of a store, such as its
 * node ids, are not compared: the generator asks the store of the first call.
 *
 * The generator belongs to the isolate, so `using` and `await using` do not close it. Do not call `close()` in a request: it ends the
 * lease of all others.
 *
 * @throws {ConfigError} `STATE_CONFLICT` for other options than before, and at module scope; `INVALID_ARGUMENT` for the 17th
 * source in use, as where each request passes another one; the errors of `lease()`.
 * @throws {LeaseError} those of `lease()`, after `maxAsyncWaitMs`. `STORE_REFUSED` outside Cloudflare's runtime.
 */
export function leased<
  const L extends LayoutInput = "edge",
  S extends LeasesNamespace | LeaseStore = LeasesNamespace | LeaseStore,
>(
  source: S & OfLeases<S>,
  ctx?: RequestContext,
  options?: WorkersLeaseOptions<L>,
): LeasedSnowflake<L> | Promise<LeasedSnowflake<L>>;
export function leased<
  const L extends LayoutInput = "edge",
  S extends LeasesNamespace | LeaseStore = LeasesNamespace | LeaseStore,
>(source: S & OfLeases<S>, options: WorkersLeaseOptions<L>): LeasedSnowflake<L> | Promise<LeasedSnowflake<L>>;
export function leased(source: unknown, second?: unknown, third?: unknown): unknown {
  const ctx = isContext(second) ? second : undefined;
  const options = ctx === undefined && third === undefined ? second : third;
  if (last !== undefined && last.source === source && areLast(options, last)) {
    const { ids, driver } = last.entry;
    // The whole cost of a lease that is held.
    if (driver.isQuietAt(wallClock())) return ids;
  }
  return look(source, ctx, options as Options | undefined);
}

function look(source: unknown, ctx: RequestContext | undefined, given: Options | undefined): unknown {
  // A copy, each value of which is read once: the caller may change its object.
  const options =
    given === undefined
      ? undefined
      : checkGiven(given, LEASE_OPTIONS, NOT_LEASED, ctx === undefined ? "ctx or options" : undefined);
  const entry = entryOf(storeOf(source, isStore), options);
  // An object that can be changed may name another scope in the next call: its IDs go to another column.
  const isSame = given === undefined || Object.isFrozen(given);
  last = isSame ? { source, options: given, scope: given?.["scope"], entry } : undefined;
  const { ids, driver } = entry;
  if (driver.isQuietAt(wallClock())) return ids;
  return driver.isHeld(keepOf(ctx)) ? ids : untilAwaited(usable(entry));
}

async function usable({ ids }: Entry): Promise<LeasedSnowflake<LayoutInput>> {
  await ids.ready();
  return ids;
}

/** The entry of a generator that is not closed. */
function openEntry(key: object, scope: unknown): Entry | undefined {
  const entry = entries.get(key)?.get(scope);
  return entry?.driver.isOpen ? entry : undefined;
}

function entryOf(store: LeaseStore, options: Options | undefined): Entry {
  const key = store.identity ?? store;
  const scope = optionOf("scope", options);
  let known = openEntry(key, scope);
  if (known === undefined) {
    requireRequest("leased()", "const ids = await leased(env.FRAZIL, ctx). While a lease is held that costs nothing");
    // Microtasks may have run in there: other calls of this.
    known = openEntry(key, scope);
  }
  // One that the store has refused for good has no node id, and is for the request that asked for it alone.
  if (known?.driver.isRefused && differenceOf(known.options, options, meaningOf)) known = undefined;
  if (known) {
    checkSame(
      known.options,
      options,
      "leased() for this source and scope",
      "generator for them. Pass the same options in every call, or another scope, whose IDs go to another column",
      meaningOf,
    );
    return known;
  }
  const scopes: Scopes = entries.get(key) ?? new Map();
  if (![...scopes.values()].some(isInUse)) checkSources(scopes);
  const entry = newEntry(store, options);
  entries.set(key, scopes.set(scope, entry));
  return entry;
}

function newEntry(store: LeaseStore, options: Options | undefined): Entry {
  const { driven, rest } = checkedLease(store, options === undefined ? {} : options, {
    known: LEASE_OPTIONS,
    defaults: { ...DEFAULTS, renew: "calls" },
    isUncopied: true,
  });
  const driver = new LeaseRequestDriver(driven);
  const ids = ofIsolate(new LeasedSnowflake<LayoutInput>(rest, driver));
  const layout = options?.["layout"];
  // A layout's definition may be changed too.
  return { ids, driver, options: typeof layout === "object" ? { ...options, layout: Layout.from(layout) } : options };
}

/** What an option means, equal for equal options. */
function meaningOf(name: string, options: Options): unknown {
  const given = optionOf(name, options);
  const value = name === "epochMs" ? msOfDate(given) : name === "node" ? nodeGiven(given) : given;
  if (name !== "layout" && (name !== "epochMs" || value !== undefined)) return value;
  const layout = Layout.from(optionOf("layout", options) as LayoutInput);
  return name === "layout" ? layoutText(layout) : layout.epochMs;
}
