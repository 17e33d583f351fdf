/**
 * Decoding alone: no WebAssembly, no native code, so it runs under any content security policy, in under 2 kB.
 *
 * ```js
 * import { decode } from "frazil/decode";
 *
 * decode("1541815603606036480", "twitter").date; // 2022-06-28T16:07:40.105Z
 * ```
 *
 * It knows the built-in layouts. For a layout of your own, `Layout` from `frazil` decodes without WebAssembly too.
 */

import { type Decoded, decodeId } from "./decoded.js";
import type { LayoutParts } from "./generated/layouts.js";
import { type IdInput, type LayoutName, namedSpec, type Shape, shapeOf } from "./id.js";

export type { Decoded } from "./decoded.js";
export { DecodeError, type ErrorCode, FrazilError } from "./errors.js";
export type { IdInput, LayoutName } from "./id.js";

/** The layouts that were asked for. */
const shapes = /* @__PURE__ */ new Map<LayoutName, Shape>();

/**
 * Takes an ID of a built-in layout apart.
 *
 * @throws {DecodeError} `INVALID_ID` for anything that is not an ID of the layout.
 * @throws {ConfigError} `INVALID_LAYOUT` for a name that is none.
 */
export function decode<N extends LayoutName>(id: IdInput, layout: N): Decoded<LayoutParts[N]> {
  let shape = shapes.get(layout);
  if (!shape) {
    shape = shapeOf(namedSpec(layout));
    shapes.set(layout, shape);
  }
  return decodeId(shape, id);
}
