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
export function layoutText({ epochMs, tickMs, unsigned, fields }: Layout<string>): string {
  let parts: { kind: string; bits: number }[] = [];
  for (const { kind, bits } of fields) {
    const last = parts.at(-1);
    if (kind === "node" && last?.kind === "node") last.bits += bits;
    else parts = [...parts, { kind, bits }];
  }
  const widths = parts.map(({ kind, bits }) => `${kind}${bits}`);
  return [epochMs, `${tickMs}ms`, ...widths, ...(unsigned ? ["unsigned"] : [])].join(" ");
}

/** How many node ids a layout has, from its text; 1 without a node field. @internal */
export function nodeCountOf(text: string): number {
  const bits = [...text.matchAll(/ node(\d+)/g)].reduce((sum, [, width]) => sum + Number(width), 0);
  return 2 ** bits;
}
