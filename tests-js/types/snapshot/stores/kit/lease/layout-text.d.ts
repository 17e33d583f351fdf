/** The layout of a scope as text, which a store keeps and compares. */
import type { Layout } from "../../../layout/index.js";
/**
 * Everything that decides which IDs a layout makes, in a form that people can read in the table of a store, such as
 * `"1704067200000 1ms time41 node10 sequence12"`: the epoch, the tick, the fields, and `unsigned` if all 64 bits may be
 * used. Names do not count: parts of the node id that lie side by side are written as one field.
 *
 * ```js
 * layoutText(Layout.named("twitter")) === layoutText(Layout.named("leaf")); // true
 * ```
 */
export declare function layoutText({ epochMs, tickMs, unsigned, fields }: Layout<string>): string;
