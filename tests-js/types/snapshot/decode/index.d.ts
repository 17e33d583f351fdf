import type { LayoutParts } from "../generated/layouts.js";
import { type Decoded } from "../layout/decoded.js";
import { type IdInput, type LayoutName } from "../layout/id.js";
export { DecodeError, type ErrorCode, FrazilError } from "../base/errors.js";
export type { Decoded, NodeParts } from "../layout/decoded.js";
export type { IdInput, LayoutName } from "../layout/id.js";
export type { DecodedOf, PartsOf } from "../layout/index.js";
export declare function decode<N extends LayoutName>(id: IdInput, layout: N): Decoded<LayoutParts[N]>;
