/**
 * Reading an ID: what the decoder and `Layout` have in common. A crossing into native code or WebAssembly costs more than
 * taking one ID apart, and a page may forbid WebAssembly, so this is JavaScript on every backend.
 */
import { type Join, joinAdjacent, type Span, spanOf } from "./bits.js";
import { ConfigError, DecodeError, refusal } from "./errors.js";
import { LAYOUTS, type LayoutParts } from "./generated/layouts.js";
import { KINDS } from "./generated/page.js";
import { Rule } from "./generated/rules.js";
import { ownOf } from "./own.js";

/** An ID as it goes in: `bigint`, decimal text, or a `number` where that is exact. */
export type IdInput = bigint | string | number;

/** What a field of an ID holds. */
export type FieldKind = "time" | "node" | "clock" | "sequence";

/** One field of a layout. */
export interface LayoutField {
  readonly kind: FieldKind;
  /** Its width, at least 1. */
  readonly bits: number;
  /** The name of a node part; an unnamed one is `"node"`. */
  readonly name?: string;
}

/** What a layout is made of: `new Layout(spec)` checks it. */
export interface LayoutSpec {
  /** Unix milliseconds of tick 0. */
  readonly epochMs: number;
  /** The length of a tick in milliseconds. Default: 1. */
  readonly tickMs?: number;
  /** Whether the fields may use all 64 bits, 63 otherwise. Default: false. */
  readonly unsigned?: boolean;
  /** The fields, from the most to the least significant, in any order. */
  readonly fields: readonly LayoutField[];
}

/** The names of the built-in layouts. */
export type LayoutName = keyof LayoutParts;

/** Where the fields of a checked layout lie. @internal */
export interface Shape {
  readonly epochMs: number;
  readonly tickMs: number;
  /** How many bits the layout uses. */
  readonly bits: number;
  readonly maxId: bigint;
  readonly time: Span;
  readonly node: Span | undefined;
  readonly clock: Span | undefined;
  readonly sequence: Span;
  /** The parts of the node id, the most significant first: name, how many values it has, and how many lie below it. */
  readonly parts: readonly (readonly [name: string, count: number, below: number])[];
}

/**
 * Puts fields in their places, the last one at bit 0. Their widths are taken as they are; `join` makes one number of the
 * parts of a node id, which in the built-in layouts are neighbours.
 *
 * @internal
 */
export function shapeOf({ epochMs, tickMs, fields }: Required<LayoutSpec>, join: Join = joinAdjacent): Shape {
  let bits = 0;
  // A field that is missing is its own, so that none is inherited.
  const spans: Record<FieldKind, Span | undefined> = {
    time: undefined,
    node: undefined,
    clock: undefined,
    sequence: undefined,
  };
  const parts: [string, number, number][] = [];
  for (const field of [...fields].reverse()) {
    const { kind, bits: width, name = "node" } = ownOf(field);
    const span = spanOf(bits, width);
    const below = spans[kind];
    spans[kind] = below ? join(span, below) : span;
    if (kind === "node") parts.unshift([name, span.max + 1, below ? below.max + 1 : 1]);
    bits += width;
  }
  return { epochMs, tickMs, bits, maxId: 2n ** BigInt(bits) - 1n, parts, ...(spans as Pick<Shape, FieldKind>) };
}

const rows = () => LAYOUTS.split("\n").map((row) => row.split(" "));

/** The names of the built-in layouts. @internal */
export const layoutNames = (): LayoutName[] => rows().map(([name]) => name as LayoutName);

/** The parts of a built-in layout: epoch, tick, unsigned, fields. @internal */
export function namedSpec(wanted: LayoutName): Required<LayoutSpec> {
  const [name, epochMs, tickMs, unsigned, ...fields] = rows().find(([name]) => name === wanted) ?? [];
  if (!name)
    throw refusal(ConfigError, "INVALID_LAYOUT", "layout", wanted, `${Rule.KNOWN_LAYOUT}: ${layoutNames().join(", ")}`);
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

/** The ID as a `bigint`, exactly. @internal */
export function parseId({ maxId }: Pick<Shape, "maxId">, input: IdInput): bigint {
  const refuse = (rule: string) => refusal(DecodeError, "INVALID_ID", "id", input, rule, 0, maxId);
  let id = input;
  if (typeof id === "string") {
    if (!/^(0|[1-9]\d*)$/.test(id)) throw refuse(Rule.ID_TEXT);
    // No ID has more than 20 digits, and a long text would take long to read.
    id = BigInt(id.slice(0, 21));
  } else if (typeof id !== "bigint") {
    if (!Number.isSafeInteger(id)) throw refuse(Rule.ID_INPUT);
    id = BigInt(id);
  }
  if (id < 0n || id > maxId) throw refuse(Rule.ID_RANGE);
  return id;
}

/** Unix milliseconds of the start of a tick. @internal */
export const msOf = ({ epochMs, tickMs }: Shape, tick: number): number => epochMs + tick * tickMs;
