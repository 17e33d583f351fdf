/** The width of a layout, for entries that need no more of it. */
import { LAYOUT_BITS } from "../generated/layout-bits.js";

/** The bits of a layout, or of the layout of a name; 0 for anything else. @internal */
export function bitsOf(layout: unknown): number {
  const given = layout as { fields?: { bits: number }[] } | null | undefined;
  const bits =
    typeof layout === "string"
      ? (LAYOUT_BITS[layout as never] as number)
      : given?.fields?.reduce?.((sum, field) => sum + ((field?.bits >>> 0 === field?.bits && field.bits) || NaN), 0);
  return (bits as number) > 0 && (bits as number) < 65 ? (bits as number) : 0;
}
