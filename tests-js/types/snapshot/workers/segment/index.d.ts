import { type Segmented } from "../segmented.js";
export type { SegmentStats } from "../../segment/holder.js";
export type { SegmentNumbers, SegmentOptions } from "../../segment/numbers.js";
export type { Reply } from "../../stores/durable-object/error-data.js";
export { DurableObjectStore, type DurableObjectStoreOptions, type LeasesNamespace, LOCATION_HINTS, type LocationHint, locationHintOf, type NodeRange, type OfLeases, type RequestPlace, } from "../../stores/durable-object/index.js";
export { FrazilLeases, type ObjectSql, type ObjectState, type ObjectStorage } from "../leases-object.js";
export type { RequestContext } from "../request-context.js";
export type { Segmented } from "../segmented.js";
export declare const segmented: Segmented;
