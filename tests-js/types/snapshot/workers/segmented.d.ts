import { SegmentNumbers, type SegmentOptions } from "../segment/numbers.js";
import type { LeasesNamespace, OfLeases } from "../stores/durable-object/index.js";
import type { SegmentStore } from "../stores/segment-store.js";
import { type RequestContext } from "./request-context.js";
export interface Segmented {
    <S extends LeasesNamespace | SegmentStore>(source: S & OfLeases<S>, ctx: RequestContext | undefined, options: SegmentOptions): SegmentNumbers;
    <S extends LeasesNamespace | SegmentStore>(source: S & OfLeases<S>, options: SegmentOptions): SegmentNumbers;
}
