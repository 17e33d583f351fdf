/**
 * Cloudflare Workers that hand out plain numbers and mint no IDs: `segmented()` and the class of the objects, without the WebAssembly
 * module of the generators. They have the same names in `frazil/workers`, which is for Workers that mint as well.
 *
 * ```js
 * import { segmented } from "frazil/workers/segment";
 *
 * export { FrazilLeases } from "frazil/workers/segment";
 *
 * export default {
 *   async fetch(request, env, ctx) {
 *     const orders = segmented(env.FRAZIL, ctx, { tag: "orders" });
 *     return new Response(await orders.nextString());
 *   },
 * };
 * ```
 */

import { type Segmented, segmentedOn } from "../segmented.js";
import { segmentsAlone } from "./core.js";

export type { SegmentStats } from "../../segment/holder.js";
export type { SegmentNumbers, SegmentOptions } from "../../segment/numbers.js";
export type { Reply } from "../../stores/durable-object/error-data.js";
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
} from "../../stores/durable-object/index.js";
export { FrazilLeases, type ObjectSql, type ObjectState, type ObjectStorage } from "../leases-object.js";
export type { RequestContext } from "../request-context.js";
export type { Segmented } from "../segmented.js";

/** That of `frazil/workers`, without the WebAssembly module of the generators. */
export const segmented: Segmented = /* @__PURE__ */ segmentedOn(segmentsAlone);
