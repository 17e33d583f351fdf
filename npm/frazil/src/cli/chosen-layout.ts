/** The layout of `--layout` and `--epoch`. */
import { Layout, type LayoutName, type LayoutSpec } from "frazil";
import { show } from "../base/errors.js";
import type { Flags } from "./flags.js";
import { fixedMs } from "./times.js";
import { UsageError } from "./usage-error.js";

export function layoutOf({ layout = "default", epoch }: Flags): Layout {
  const named = (layout.startsWith("{") ? new Layout(specOf(layout)) : Layout.named(layout as LayoutName)) as Layout;
  return epoch === undefined ? named : named.with({ epochMs: fixedMs("epoch", epoch) });
}

/** A layout as JSON. The callee checks it. */
function specOf(text: string): LayoutSpec {
  try {
    return JSON.parse(text) as LayoutSpec;
  } catch (error) {
    throw new UsageError(`--layout must be JSON if it begins with {, got ${show(text)}: ${(error as Error).message}`);
  }
}

/** The fields of a layout, from the most significant one. */
export const fieldsOf = (layout: Layout, separator: string): string =>
  layout.fields.map(({ kind, name, bits }) => `${name ?? kind} ${bits}`).join(separator);
