import type { SegmentStore } from "../stores/segment-store.js";
import { SegmentNumbers, type SegmentOptions } from "./numbers.js";
export type { AsyncOptions } from "../generator/options.js";
export type { AllocateRequest, Allocation, SegmentStore, TagOptions } from "../stores/segment-store.js";
export type { SegmentStats } from "./holder.js";
export type { SegmentNumbers, SegmentOptions } from "./numbers.js";
export declare class Segment extends SegmentNumbers {
    constructor(store: SegmentStore, options: SegmentOptions);
}
