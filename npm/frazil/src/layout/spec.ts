/** The rules of a definition. */
import { msGiven } from "../base/dates.js";
import { isWhole, show, whole } from "../base/errors.js";
import { checkKeys } from "../base/option-keys.js";
import { PackageRule } from "../base/package-rules.js";
import { describedError } from "../base/value-text.js";
import { KINDS } from "../generated/abi.js";
import { SECONDS_END, SECONDS_START } from "../generated/layouts.js";
import { Rule } from "../generated/rules.js";
import { joinAnywhere } from "./bits.js";
import { type CheckedSpec, type FieldKind, type LayoutField, type LayoutSpec, layoutNames, shapeOf } from "./id.js";
import type { Shape } from "./shape.js";
import { timeHint } from "./times.js";

/** The latest time of a `Date` (ECMA-262, section 21.4.1.1). */
const MAX_DATE_MS = 8.64e15;
/** The largest width of a field of each kind, in bits. */
const WIDTHS: Record<FieldKind, number> = { time: 64, node: 64, clock: 8, sequence: 53 };

/** The most bits of all fields together. Each has at least one. */
const MAX_BITS = 64;

/** The keys of a `LayoutSpec`. */
export const SPEC = "epochMs, tickMs, unsigned, fields";

export const invalid = (field: string, value: unknown, rule: string, max?: number): Error =>
  describedError("INVALID_LAYOUT", field, value, rule, 0, max);

/** A checked copy of a field, without unused properties. */
function copyField(field: LayoutField): LayoutField {
  const { kind, bits, name } = checkKeys("INVALID_LAYOUT", "fields", field, "kind, bits, name");
  if (!KINDS.includes(kind)) throw invalid("kind", kind, PackageRule.KNOWN_KIND);
  whole("INVALID_LAYOUT", "bits", bits, 1, WIDTHS[kind]);
  if (name === undefined) return { kind, bits };
  if (kind !== "node") throw invalid("name", name, Rule.NAME_ONLY_NODE);
  if (typeof name !== "string" || !/^[a-z][\w-]{0,31}$/i.test(name)) throw invalid("name", name, Rule.NAME_SYNTAX);
  return { kind, bits, name };
}

/** A checked copy of a definition, and the positions of its fields. */
export function checkedSpec(spec: LayoutSpec): readonly [checked: CheckedSpec, shape: Shape] {
  if (layoutNames().includes(spec as never))
    throw invalid("layout", spec, `${PackageRule.AN_OBJECT}\nUse Layout.named(${show(spec)}).`);
  const { epochMs: epoch, tickMs = 1, unsigned = false, fields } = checkKeys("INVALID_LAYOUT", "layout", spec, SPEC);
  if (!Array.isArray(fields)) throw invalid("fields", fields, PackageRule.FIELD_LIST);
  if (typeof unsigned !== "boolean") throw invalid("unsigned", unsigned, PackageRule.TRUE_OR_FALSE);
  const limit = unsigned ? MAX_BITS : MAX_BITS - 1;
  // Read once: a tiny array may have a length of 2^32, and a Proxy any length.
  const count = fields.length;
  if (!isWhole(count, 0, MAX_BITS)) throw invalid("fields", fields, Rule.WIDTH, limit);
  const epochMs = msGiven(epoch);
  if (!isWhole(epochMs, 0, Number.MAX_SAFE_INTEGER))
    throw invalid(
      "epochMs",
      epoch,
      Rule.WHOLE_NUMBER + (timeHint(epochMs) || "\nPass Unix milliseconds or a valid Date."),
      Number.MAX_SAFE_INTEGER,
    );
  if (epochMs >= SECONDS_START && epochMs < SECONDS_END) throw invalid("epochMs", epoch, Rule.NOT_SECONDS);
  const checked: CheckedSpec = {
    epochMs,
    tickMs: whole("INVALID_LAYOUT", "tickMs", tickMs, 1, Number.MAX_SAFE_INTEGER),
    unsigned,
    fields: Object.freeze(Array.from({ length: count }, (_, at) => Object.freeze(copyField(fields[at])))),
  };
  const of = (kind: FieldKind) => checked.fields.filter((field) => field.kind === kind);
  const width = (fields: readonly LayoutField[]) => fields.reduce((sum, { bits }) => sum + bits, 0);
  if (of("time").length !== 1) throw invalid("fields", fields, Rule.ONE_TIME);
  if (of("sequence").length !== 1) throw invalid("fields", fields, Rule.ONE_SEQUENCE);
  if (of("clock").length > 1) throw invalid("fields", fields, Rule.ONE_CLOCK);
  const nodes = width(of("node"));
  if (nodes > 32) throw invalid("fields", nodes, Rule.NODE_WIDTH, 32);
  const total = width(checked.fields);
  if (total > limit) throw invalid("fields", total, Rule.WIDTH, limit);
  const shape = shapeOf(checked, joinAnywhere);
  const names = shape.parts.map(([name]) => name);
  const duplicate = names.find((name, at) => names.indexOf(name) < at);
  if (duplicate) throw invalid("name", duplicate, Rule.DISTINCT_NAMES);
  if (shape.time.max > (MAX_DATE_MS - epochMs) / tickMs) throw invalid("fields", fields, Rule.LAST_TICK);
  return [checked, shape];
}
