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
export { segmented } from "./segmented.js";
