export { type ManualClock, manualClock } from "./manual-clock.js";
export { type SeededIdsOptions, seededIds } from "./seeded-ids.js";
