/**
 * Decoding alone: no WebAssembly, no native code, so it runs under any content security policy.
 *
 * ```js
 * import { decode } from "frazil/decode";
 *
 * decode("1541815603606036480", "twitter").date; // 2022-06-28T16:07:40.105Z
 * ```
 */
import { type Decoded, type IdInput, Layout, type LayoutInput, type PartsOf } from "./layout.js";

export { DecodeError, type ErrorCode, FrazilError } from "./errors.js";
export { type Decoded, type IdInput, Layout, type LayoutInput, type LayoutName, type LayoutSpec, type PartsOf } from "./layout.js";

/**
 * Takes an ID apart by a layout: its name, its parts, or a `Layout`.
 *
 * @throws {DecodeError} `INVALID_ID` for anything that is not an ID of the layout.
 * @throws {ConfigError} `INVALID_LAYOUT`.
 */
export function decode<const L extends LayoutInput>(id: IdInput, layout: L): Decoded<PartsOf<L>> {
  return Layout.from(layout).decode(id) as Decoded<PartsOf<L>>;
}
