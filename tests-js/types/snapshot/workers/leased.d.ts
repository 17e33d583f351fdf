/** `leased()`: the generator of an isolate, whose node id is leased. It is called in each request. */
import { type LayoutInput } from "frazil";
import type { LeaseOptions } from "../lease/index.js";
import { LeasedSnowflake } from "../lease/leased-snowflake.js";
import type { LeasesNamespace, OfLeases } from "../stores/durable-object/index.js";
import type { LeaseStore } from "../stores/lease-store.js";
import { type RequestContext } from "./request-context.js";
/** The options of `leased()`. Each has a default. */
export interface WorkersLeaseOptions<L extends LayoutInput = LayoutInput> extends Omit<LeaseOptions<L>, "layout" | "windowMs" | "owner" | "renew" | "signal" | "maxWaitMs"> {
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
export declare function leased<const L extends LayoutInput = "edge", S extends LeasesNamespace | LeaseStore = LeasesNamespace | LeaseStore>(source: S & OfLeases<S>, ctx?: RequestContext, options?: WorkersLeaseOptions<L>): LeasedSnowflake<L> | Promise<LeasedSnowflake<L>>;
export declare function leased<const L extends LayoutInput = "edge", S extends LeasesNamespace | LeaseStore = LeasesNamespace | LeaseStore>(source: S & OfLeases<S>, options: WorkersLeaseOptions<L>): LeasedSnowflake<L> | Promise<LeasedSnowflake<L>>;
