import { SegmentNumbers, type SegmentOptions } from "../segment/numbers.js";
import type { LeasesNamespace, OfLeases } from "../stores/durable-object/index.js";
import type { SegmentStore } from "../stores/segment-store.js";
import { type RequestContext } from "./request-context.js";
/**
 * The numbers of this isolate for a tag, as a `Segment` of `frazil/segment` has them. Call it in each request:
 *
 * ```js
 * import { segmented } from "frazil/workers";
 *
 * export { FrazilLeases } from "frazil/workers";
 *
 * export default {
 *   async fetch(request, env, ctx) {
 *     const orders = segmented(env.FRAZIL, ctx, { tag: "orders" });
 *     return new Response(await orders.nextString());
 *   },
 * };
 * ```
 *
 * All calls in an isolate for one source and tag return the same object. A request that finds a number costs no I/O, and the next
 * range is fetched beside it.
 *
 * `source`: a namespace of Durable Objects of the class `FrazilLeases`, or a store. `ctx`: the context of the request; without it the
 * `waitUntil` of `cloudflare:workers` is used. Options are those of `Segment`, with other defaults: `step` 10 and `maxStep` 1000, since
 * an isolate that is evicted loses what it has. Those of later calls must equal those of the first one. The segment belongs to the
 * isolate, so `using` does not close it.
 *
 * @throws {ConfigError} `STATE_CONFLICT` for other options than before, and at module scope; the errors of `new Segment()`.
 * @throws {LeaseError} `STORE_REFUSED` outside Cloudflare's runtime.
 */
export declare function segmented<S extends LeasesNamespace | SegmentStore>(source: S & OfLeases<S>, ctx: RequestContext | undefined, options: SegmentOptions): SegmentNumbers;
export declare function segmented<S extends LeasesNamespace | SegmentStore>(source: S & OfLeases<S>, options: SegmentOptions): SegmentNumbers;
