/**
 * Reading an ID, shared by the decoder and `Layout`. This is JavaScript on every backend, because a call into native
 * code or WebAssembly costs more than decoding one ID, and a page may forbid WebAssembly.
 */
import { Decoding, keepParts, keyOf } from "#decoding";
import { ConfigError, DecodeError, type ErrorDetails, refusal } from "../base/errors.js";
import { FORM_TEXT, UUID, UUID_HINT } from "../base/other-texts.js";
import { ownOf } from "../base/own-properties.js";
import { PackageRule } from "../base/package-rules.js";
import { KINDS } from "../generated/abi.js";
import { LAYOUTS, type LayoutParts } from "../generated/layouts.js";
import { Rule } from "../generated/rules.js";
import { type Join, joinAdjacent, type Span, spanOf } from "./bits.js";
import type { Shape } from "./shape.js";

/** An ID as an argument: a `bigint`, decimal text, or a `number` that is exact. */
export type IdInput = bigint | string | number;

/**
 * An ID of one kind, for the compiler alone: assignable to `bigint`, but no plain `bigint` or other kind is assignable to it. The program
 * says where IDs get their kind; nothing changes at run time:
 *
 * ```ts
 * type UserId = Id<"user">;
 * const newUserId = () => ids.next() as UserId;
 * ```
 */
export type Id<Kind extends string = string> = bigint & { readonly "frazil.id": Kind };

/** The decimal text of an ID of one kind, like `Id` for its number: `ids.nextString() as IdText<"user">`. */
export type IdText<Kind extends string = string> = string & { readonly "frazil.id": Kind };

/** The meaning of a field of an ID. */
export type FieldKind = "time" | "node" | "clock" | "sequence";

/** One field of a layout. */
export interface LayoutField {
  readonly kind: FieldKind;
  /** The width in bits, at least 1. */
  readonly bits: number;
  /** The name of a part of the node id. Default: `"node"`. */
  readonly name?: string;
}

/** The definition of a layout. `new Layout(spec)` checks it. */
export interface LayoutSpec {
  /**
   * The epoch: the start of tick 0, in Unix milliseconds or as a `Date`. It must be constant: if the epoch moves, IDs repeat.
   */
  readonly epochMs: number | Date;
  /** The length of a tick in milliseconds. Default: 1. */
  readonly tickMs?: number;
  /** Whether the fields may use all 64 bits; otherwise 63. Default: false. */
  readonly unsigned?: boolean;
  /** The fields, from the most to the least significant. Any order of kinds is allowed. */
  readonly fields: readonly LayoutField[];
}

/** A checked definition, complete with defaults. */
export interface CheckedSpec extends Required<LayoutSpec> {
  readonly epochMs: number;
}

/** The names of the built-in layouts. */
export type LayoutName = keyof LayoutParts;

/**
 * Computes the positions of fields, the last one at bit 0. Does not check their widths. `join` combines the parts of a
 * node id; in the built-in layouts they are adjacent.
 *
 * @internal
 */
export function shapeOf({ epochMs, tickMs, fields }: CheckedSpec, join: Join = joinAdjacent): Shape {
  let bits = 0;
  // Missing kinds are own properties as well, so none is read from a polluted `Object.prototype`.
  const spans: Record<FieldKind, Span | undefined> = {
    time: undefined,
    node: undefined,
    clock: undefined,
    sequence: undefined,
  };
  let parts: [string, number, number][] = [];
  for (const field of [...fields].reverse()) {
    const { kind, bits: width, name = "node" } = ownOf(field);
    const span = spanOf(bits, width);
    const below = spans[kind];
    spans[kind] = below ? join(span, below) : span;
    if (kind === "node")
      parts = [[Decoding.FAST ? keyOf(name) : name, span.max + 1, below ? below.max + 1 : 1], ...parts];
    bits += width;
  }
  const shape = { epochMs, tickMs, bits, maxId: 2n ** BigInt(bits) - 1n, parts, ...(spans as Pick<Shape, FieldKind>) };
  return Decoding.FAST ? { ...shape, partsKept: keepParts(parts) } : shape;
}

const rows = () => LAYOUTS.split("\n").map((row) => row.split(" "));

/** The names of the built-in layouts. @internal */
export const layoutNames = (): LayoutName[] => rows().map(([name]) => name as LayoutName);

/** The definition of a built-in layout. @internal */
export function namedSpec(wanted: LayoutName): CheckedSpec {
  const [name, epochMs, tickMs, unsigned, ...fields] = rows().find(([name]) => name === wanted) ?? [];
  if (!name)
    throw refusal(
      ConfigError,
      "INVALID_LAYOUT",
      "layout",
      wanted,
      `${Rule.KNOWN_LAYOUT}\nUse one of ${layoutNames().join(", ")}.`,
    );
  return {
    epochMs: parseInt(epochMs as string, 36),
    tickMs: parseInt(tickMs as string, 36),
    unsigned: unsigned === "1",
    fields: fields.map((field) => {
      const [width, name] = field.slice(1).split(":");
      const kind = KINDS.find(([letter]) => letter === field[0]) as FieldKind;
      return { kind, bits: Number(width), ...(name && { name }) };
    }),
  };
}

/** The range of text forms and of JSON, which know no layouts. @internal */
export const ANY_ID = { maxId: 0xffff_ffff_ffff_ffffn };

/** The hint for a value that is not an ID. Objects are not inspected: a Proxy can refuse that. */
const inputHint = (input: unknown): string =>
  Number.isInteger(input)
    ? "\nJSON.parse rounds larger numbers, so keep IDs as text."
    : typeof input === "object" && input
      ? "\nPass its id. For many, use decodeMany or encodeMany."
      : "";

/** The ID as a `bigint`, exactly. @internal */
export function parseId({ maxId }: Pick<Shape, "maxId">, input: IdInput, details?: ErrorDetails): bigint {
  const refuse = (rule: string) => refusal(DecodeError, "INVALID_ID", "id", input, rule, 0, maxId, details);
  let id = input;
  if (typeof id === "string") {
    if (!/^(0|[1-9]\d*)$/.test(id))
      throw refuse(
        `${Rule.ID_TEXT}\n${UUID.test(id) ? UUID_HINT : FORM_TEXT.test(id) ? "Is it base62 or hex? frazil/text reads it." : ""}`,
      );
    // An ID has at most 20 digits. A longer text is cut after 21, because converting it would take long.
    id = BigInt(id.slice(0, 21));
  } else if (typeof id !== "bigint") {
    if (!Number.isSafeInteger(id)) throw refuse(PackageRule.ID_INPUT + inputHint(id));
    id = BigInt(id);
  }
  if (id < 0n || id > maxId) throw refuse(Rule.ID_RANGE);
  return id;
}
