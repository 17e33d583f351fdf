/**
 * Reading an ID: what the decoder and `Layout` have in common. A crossing into native code or WebAssembly costs more than
 * taking one ID apart, and a page may forbid WebAssembly, so this is JavaScript on every backend.
 */
import { type Join, neighbours, type Span, spanOf, split } from "./bits.js";
import { ConfigError, DecodeError, refusal } from "./errors.js";
import { LAYOUTS, type LayoutParts } from "./generated/layouts.js";
import { KINDS } from "./generated/page.js";
import { Rule } from "./generated/rules.js";

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

/** An ID taken apart. */
export interface Decoded<P extends string = string> {
  /** The ID. */
  readonly id: bigint;
  /** Unix milliseconds of the start of its tick. */
  readonly timestampMs: number;
  /** The node id, its parts joined; `undefined` where the layout has none. */
  readonly node: number | undefined;
  /** The clock id; `undefined` where the layout has none. */
  readonly clock: number | undefined;
  /** The number of the ID within its tick. */
  readonly sequence: number;
  /** `timestampMs` as a `Date`. */
  readonly date: Date;
  /** The node id by the names of its parts; `undefined` where the layout has none. */
  readonly parts: { readonly [K in P]: number } | undefined;
  /** The same with the ID as text, since JSON has no bigint. */
  toJSON(): object;
}

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
export function shapeOf({ epochMs, tickMs, fields }: Required<LayoutSpec>, join: Join = neighbours): Shape {
  let bits = 0;
  const spans = {} as Record<FieldKind, Span>;
  const parts: [string, number, number][] = [];
  for (const { kind, bits: width, name = "node" } of [...fields].reverse()) {
    const span = spanOf(bits, width);
    const below = spans[kind];
    spans[kind] = below ? join(span, below) : span;
    if (kind === "node") parts.unshift([name, span.max + 1, below ? below.max + 1 : 1]);
    bits += width;
  }
  return { epochMs, tickMs, bits, maxId: 2n ** BigInt(bits) - 1n, parts, ...spans };
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
export function parseId({ maxId }: Shape, input: IdInput): bigint {
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

/** Takes an ID apart. @internal */
export function decodeId<P extends string>(shape: Shape, input: IdInput): Decoded<P> {
  const id = parseId(shape, input);
  const halves = split(id);
  const { time, node, clock, sequence } = shape;
  return new DecodedId<P>(
    shape,
    id,
    msOf(shape, time.of(halves)),
    node?.of(halves),
    clock?.of(halves),
    sequence.of(halves),
  );
}

/** An ID taken apart by a shape. @internal */
export class DecodedId<P extends string> implements Decoded<P> {
  readonly #shape: Shape;
  // Declared, since the constructor assigns them: a definition would be a second one, in every bundle.
  declare readonly id: bigint;
  declare readonly timestampMs: number;
  declare readonly node: number | undefined;
  declare readonly clock: number | undefined;
  declare readonly sequence: number;

  constructor(
    shape: Shape,
    id: bigint,
    timestampMs: number,
    node: number | undefined,
    clock: number | undefined,
    sequence: number,
  ) {
    this.#shape = shape;
    this.id = id;
    this.timestampMs = timestampMs;
    this.node = node;
    this.clock = clock;
    this.sequence = sequence;
  }

  get date(): Date {
    return new Date(this.timestampMs);
  }

  get parts(): { readonly [K in P]: number } | undefined {
    const { node } = this;
    if (node === undefined) return undefined;
    const parts = this.#shape.parts.map(([name, count, below]) => [name, Math.floor(node / below) % count]);
    return Object.fromEntries(parts) as { [K in P]: number };
  }

  toJSON(): object {
    return { ...this, id: `${this.id}`, date: this.date, parts: this.parts };
  }
}
