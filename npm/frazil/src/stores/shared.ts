/**
 * What the stores, `frazil/testing` and the command line share: a file in the package, which each of them imports. No program can import
 * it.
 */
export * from "../asking/timer.js";
export * from "../base/clock.js";
export * from "../base/errors.js";
export * from "../base/option-keys.js";
export * from "../base/outside-text.js";
export * from "../base/own-properties.js";
export * from "../base/value-text.js";
export * from "../base/wait.js";
export * from "./kit/answer-rows.js";
export * from "./kit/argument-errors.js";
export * from "./kit/clients.js";
export * from "./kit/errors.js";
export * from "./kit/found-record.js";
export * from "./kit/lease/compare-and-set.js";
export * from "./kit/lease/layout-text.js";
export * from "./kit/lease/requests.js";
export * from "./kit/lease/rules.js";
export * from "./kit/lease/scope-record.js";
export * from "./kit/limits.js";
export * from "./kit/permissions.js";
export * from "./kit/pooled.js";
export * from "./kit/races.js";
export * from "./kit/segment/concurrency-limit.js";
export * from "./kit/segment/requests.js";
export * from "./kit/segment/rules.js";
export * from "./kit/segment/tag-table.js";
export * from "./kit/set-up-limit.js";
