/**
 * Leases on Cloudflare Workers, in a Durable Object: the generator of an isolate, the class of the object, and the store that asks it.
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
export type { LeaseEvents, LeaseHealth, LeaseStats, LeaseWindow } from "./lease-events.js";
export { type LeasedHealth, LeasedSnowflake, type LeasedStats } from "./leased-snowflake.js";
export { DurableObjectStore, type DurableObjectStoreOptions, type LeasesNamespace, LOCATION_HINTS, type LocationHint, locationHintOf, type NodeRange, type RequestPlace, } from "./stores/durable-object.js";
export type { Reply } from "./stores/error-data.js";
export { type DurableOptions, durable } from "./workers/in-object.js";
export { leased, type RequestContext, type WorkersLeaseOptions } from "./workers/leased.js";
export { FrazilLeases, type ObjectSql, type ObjectState, type ObjectStorage } from "./workers/leases-object.js";
