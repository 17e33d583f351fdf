/**
 * Decoding only, in 2.3 kB (gzipped). It uses no WebAssembly and no native code, so it runs under any content security
 * policy.
 *
 * ```js
 * import { decode } from "frazil/decode";
 *
 * decode("1541815603606036480", "twitter").date; // 2022-06-28T16:07:40.105Z
 * ```
 *
 * It knows the built-in layouts. For your own layout use `Layout` from `frazil/layout`, which also decodes without
 * WebAssembly.
 */
import type { LayoutParts } from "../generated/layouts.js";
import { type Decoded } from "../layout/decoded.js";
import { type IdInput, type LayoutName } from "../layout/id.js";
export { DecodeError, type ErrorCode, FrazilError } from "../base/errors.js";
export type { Decoded, NodeParts } from "../layout/decoded.js";
export type { IdInput, LayoutName } from "../layout/id.js";
export type { DecodedOf, PartsOf } from "../layout/index.js";
/**
 * Decodes an ID of a built-in layout.
 *
 * @throws {DecodeError} `INVALID_ID` if the value is not an ID of the layout.
 * @throws {ConfigError} `INVALID_LAYOUT` if no built-in layout has the name.
 */
export declare function decode<N extends LayoutName>(id: IdInput, layout: N): Decoded<LayoutParts[N]>;
