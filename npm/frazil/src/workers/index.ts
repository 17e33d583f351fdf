/**
 * Cloudflare Workers: the generator and the segments of an isolate, a generator inside a Durable Object, the class of the objects that
 * grant, and its store.
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
 */

import { Snowflake } from "frazil";
import { type Segmented, segmentedOn } from "./segmented.js";

export type { LeaseEvents, LeaseWindow } from "../lease/events.js";
export type { LeaseHealth, LeaseStats } from "../lease/health.js";
export { type LeasedHealth, LeasedSnowflake, type LeasedStats } from "../lease/leased-snowflake.js";
export type { SegmentStats } from "../segment/holder.js";
export type { SegmentNumbers, SegmentOptions } from "../segment/numbers.js";
export type { Reply } from "../stores/durable-object/error-data.js";
export {
  DurableObjectStore,
  type DurableObjectStoreOptions,
  type LeasesNamespace,
  LOCATION_HINTS,
  type LocationHint,
  locationHintOf,
  type NodeRange,
  type OfLeases,
  type RequestPlace,
} from "../stores/durable-object/index.js";
export { type DurableOptions, durable } from "./durable.js";
export { leased, type WorkersLeaseOptions } from "./leased.js";
export { FrazilLeases, type ObjectSql, type ObjectState, type ObjectStorage } from "./leases-object.js";
export type { RequestContext } from "./request-context.js";
export type { Segmented } from "./segmented.js";

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
export const segmented: Segmented = /* @__PURE__ */ segmentedOn(Snowflake);
