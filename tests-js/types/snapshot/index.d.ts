export { ClockError, ConfigError, DecodeError, type ErrorCode, FrazilError, LeaseError } from "./base/errors.js";
export type { Backend } from "./core/boundary.js";
export type { StateFile } from "./core/state-files.js";
export type { Condition, Health, Readiness, Stats } from "./generator/health.js";
export type { IdGenerator } from "./generator/id-generator.js";
export type { AsyncOptions, LocalAsyncOptions, LocalOptions, NodeOption, SequenceStart, SnowflakeOptions, } from "./generator/options.js";
export { Snowflake } from "./generator/snowflake.js";
export { type CheckedSpec, type Columns, type Composition, type Decoded, type DecodedOf, type FieldKind, type Id, type IdInput, type IdRange, type IdText, Layout, type LayoutField, type LayoutInput, type LayoutName, type LayoutSpec, type NodeInput, type NodeParts, type PartsOf, type Plan, } from "./layout/index.js";
