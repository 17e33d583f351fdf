/**
 * Leases on Cloudflare Workers, in a Durable Object: the class of the object, and the store that asks it.
 *
 * ```js
 * export { FrazilLeases } from "frazil/workers";
 * ```
 */

export {
  DurableObjectStore,
  type DurableObjectStoreOptions,
  type LeasesNamespace,
  LOCATION_HINTS,
  type LocationHint,
  locationHintOf,
  type NodeRange,
  type RequestPlace,
} from "./stores/durable-object.js";
export type { Reply } from "./stores/error-data.js";
export { FrazilLeases, type ObjectSql, type ObjectState, type ObjectStorage } from "./workers/leases-object.js";
