export type * from "../stores/lease-store.js";
export type * from "../stores/segment-store.js";
export { type ManualClock, manualClock } from "./manual-clock.js";
export { MemoryLeaseStore, type MemoryLeaseStoreOptions, type MemoryRow, type SavedLeases, type SavedScope, } from "./memory-lease-store.js";
export { MemorySegmentStore, type SavedSegments, type SavedTag } from "./memory-segment-store.js";
export { type SeededIdsOptions, seededIds } from "./seeded-ids.js";
