/**
 * Layouts: what the 64 bits of an ID mean, and everything that can be asked of an ID without a generator.
 *
 * Of the core's semantics JavaScript has this too, and the text forms: a crossing into native code or WebAssembly costs
 * more than taking one ID apart, and a page may forbid WebAssembly. The rules' sentences and the table of layouts are
 * generated from the core, and the vectors in `crates/core/vectors` hold both sides together.
 */
import { bufferOf, isIdArray, lengthOf, offsetOf } from "./arrays.js";
import { joinAnywhere, type Span, spanOf, split } from "./bits.js";
import { type Decoded, decodeId } from "./decoded.js";
import { configError, DecodeError, type ErrorCode, refusal } from "./errors.js";
import type { LayoutParts } from "./generated/layouts.js";
import { KINDS } from "./generated/page.js";
import { Rule } from "./generated/rules.js";
import {
  type FieldKind,
  type IdInput,
  type LayoutField,
  type LayoutName,
  type LayoutSpec,
  layoutNames,
  msOf,
  namedSpec,
  parseId,
  type Shape,
  shapeOf,
} from "./id.js";
import { checkKeys, hintOf } from "./keys.js";
import { ownOf } from "./own.js";

export type { Decoded } from "./decoded.js";
export type { FieldKind, IdInput, LayoutField, LayoutName, LayoutSpec } from "./id.js";

/** A layout by name, as its parts, or made already. */
export type LayoutInput = LayoutName | LayoutSpec | Layout<string>;

/** The names of the node parts of a layout, for typing `node` and `parts`. */
export type PartsOf<L> = L extends LayoutName
  ? LayoutParts[L]
  : L extends Layout<infer P>
    ? P
    : L extends { readonly fields: readonly (infer F)[] }
      ? F extends { readonly kind: "node"; readonly name: infer N extends string }
        ? N
        : F extends { readonly kind: "node" }
          ? "node"
          : never
      : string;

/** A node id as one number or by the names of its parts. */
export type NodeInput<P extends string = string> = number | { readonly [K in P]: number };

/** What `compose` makes an ID of. */
export interface Composition<P extends string = string> {
  /** Unix milliseconds of the start of a tick. */
  readonly timestampMs: number | Date;
  /** The node id, where the layout has one. */
  readonly node?: NodeInput<P> | undefined;
  /** The clock id, where the layout has one. */
  readonly clock?: number | undefined;
  readonly sequence: number;
}

/** What a layout can hold. */
export interface Plan {
  /** The last time that an ID can carry. */
  readonly lastDate: Date;
  /** The last time whose IDs are positive in a signed 64-bit column; `undefined` where that does not depend on time. */
  readonly signedUntil: Date | undefined;
  /** Whether the IDs of one generator strictly increase: time above clock above sequence. */
  readonly ordered: boolean;
  /** How many node ids there are; 1 without a node field. */
  readonly nodes: number;
  /** How many IDs one node can issue in a tick. */
  readonly idsPerTick: number;
  /** How many IDs one node can issue in a second. */
  readonly idsPerSecond: number;
}

/** The fields of many IDs. */
export interface Columns {
  readonly timestampMs: Float64Array;
  readonly node: Uint32Array | undefined;
  readonly clock: Uint32Array | undefined;
  readonly sequence: Float64Array;
}

/** The latest time of a `Date` (ECMA-262, section 21.4.1.1). */
const MAX_DATE_MS = 8.64e15;
/** As it is here: what a subclass makes of it, or a clock in tests, is another time each time it is asked. */
const getTime = /* @__PURE__ */ (() => Date.prototype.getTime)();
/** The widest field of each kind. */
const WIDTHS: Record<FieldKind, number> = { time: 64, node: 64, clock: 8, sequence: 53 };

/** What a layout is made of. */
const SPEC = "epochMs, tickMs, unsigned, fields";

const invalid = (field: string, value: unknown, rule: string, max?: number): Error =>
  configError("INVALID_LAYOUT", field, value, rule, 0, max);

const isWhole = (value: unknown, min: number, max: number): value is number =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max;

function checkWhole(code: ErrorCode, field: string, value: unknown, min: number, max: number): number {
  if (!isWhole(value, min, max)) throw configError(code, field, value, Rule.WHOLE_NUMBER, min, max);
  return value;
}

/** A field is given exactly where the layout has it. */
function checkGiven(field: string, value: unknown, wanted: unknown, missing: string, unwanted: string): void {
  if ((value === undefined) === !wanted) return;
  throw configError("INVALID_ARGUMENT", field, value, wanted ? missing : unwanted);
}

/** What a `Date` of whichever realm holds; anything else as it is. */
function msGiven(time: unknown): unknown {
  if (typeof time !== "object") return time;
  try {
    return Reflect.apply(getTime, time, []);
  } catch {
    return time;
  }
}

/** A number in its place in an ID; nothing of a field that the layout does not have. */
function encodeField(span: Span | undefined, value = 0): bigint {
  let id = 0n;
  for (const { shift, max } of span ? (span.runs ?? [span]) : []) {
    id |= BigInt(value % (max + 1)) << BigInt(shift);
    value = Math.floor(value / (max + 1));
  }
  return id;
}

/** The built-in layouts that were asked for: they never change, and reading one from the table takes 30 times as long. */
const builtIns = /* @__PURE__ */ new Map<LayoutName, Layout>();

/** A field as it is kept, with nothing in it that nobody reads. */
function copyField(field: LayoutField): LayoutField {
  const { kind, bits, name } = checkKeys("INVALID_LAYOUT", "fields", field, "kind, bits, name");
  if (!KINDS.includes(kind)) throw invalid("kind", kind, Rule.KNOWN_KIND);
  checkWhole("INVALID_LAYOUT", "bits", bits, 1, WIDTHS[kind]);
  if (name === undefined) return { kind, bits };
  if (kind !== "node") throw invalid("name", name, Rule.NAME_ONLY_NODE);
  if (typeof name !== "string" || !/^[a-z][\w-]{0,31}$/i.test(name)) throw invalid("name", name, Rule.NAME_SYNTAX);
  return { kind, bits, name };
}

/**
 * What the 64 bits of an ID mean: fields in order, the epoch, and the length of a tick.
 *
 * ```js
 * Layout.named("discord").decode("175928847299117063").date; // 2016-04-30T11:18:25.796Z
 * ```
 */
export class Layout<P extends string = string> {
  /** Kept where a minifier renames the class. @internal */
  static readonly name: string = "Layout";
  // Declared, since the constructor defines them, for good: a layout that changed would decode other IDs than it minted.
  /** Unix milliseconds of tick 0. */
  declare readonly epochMs: number;
  /** The length of a tick in milliseconds. */
  declare readonly tickMs: number;
  /** Whether the fields may use all 64 bits. */
  declare readonly unsigned: boolean;
  /** The fields, from the most to the least significant. */
  declare readonly fields: readonly LayoutField[];
  readonly #shape: Shape;

  /**
   * Checks a layout and makes it.
   *
   * @throws {ConfigError} `INVALID_LAYOUT` with the field, the value and the rule.
   */
  constructor(spec: LayoutSpec) {
    const { epochMs, tickMs = 1, unsigned = false, fields } = checkKeys("INVALID_LAYOUT", "layout", spec, SPEC);
    if (!Array.isArray(fields)) throw invalid("fields", fields, Rule.ONE_TIME);
    if (typeof unsigned !== "boolean") throw invalid("unsigned", unsigned, Rule.TRUE_OR_FALSE);
    const checked: Required<LayoutSpec> = {
      epochMs: checkWhole("INVALID_LAYOUT", "epochMs", epochMs, 0, Number.MAX_SAFE_INTEGER),
      tickMs: checkWhole("INVALID_LAYOUT", "tickMs", tickMs, 1, Number.MAX_SAFE_INTEGER),
      unsigned,
      fields: Object.freeze(Array.from(fields, (field) => Object.freeze(copyField(field)))),
    };
    // Defined and not assigned: a subclass may have setters of these names.
    for (const [name, value] of Object.entries(checked)) {
      Object.defineProperty(this, name, ownOf({ value, enumerable: true }));
    }

    const of = (kind: FieldKind) => checked.fields.filter((field) => field.kind === kind);
    const width = (fields: readonly LayoutField[]) => fields.reduce((sum, { bits }) => sum + bits, 0);
    if (of("time").length !== 1) throw invalid("fields", fields, Rule.ONE_TIME);
    if (of("sequence").length !== 1) throw invalid("fields", fields, Rule.ONE_SEQUENCE);
    if (of("clock").length > 1) throw invalid("fields", fields, Rule.ONE_CLOCK);
    const nodes = width(of("node"));
    if (nodes > 32) throw invalid("fields", nodes, Rule.NODE_WIDTH, 32);
    const total = width(checked.fields);
    const limit = unsigned ? 64 : 63;
    if (total > limit) throw invalid("fields", total, Rule.WIDTH, limit);
    const shape = shapeOf(checked, joinAnywhere);
    const names = shape.parts.map(([name]) => name);
    const duplicate = names.find((name, at) => names.indexOf(name) < at);
    if (duplicate) throw invalid("name", duplicate, Rule.DISTINCT_NAMES);
    if (shape.time.max > (MAX_DATE_MS - epochMs) / tickMs) throw invalid("fields", fields, Rule.LAST_TICK);
    this.#shape = shape;
    // A subclass still has fields of its own to define.
    if (isLayout(new.target)) Object.freeze(this);
  }

  /**
   * A built-in layout.
   *
   * @throws {ConfigError} `INVALID_LAYOUT` for a name that is none of `Layout.names`.
   */
  static named<N extends LayoutName>(name: N): Layout<LayoutParts[N]> {
    return builtIn(name) as never;
  }

  /** A layout given in any of its forms. @internal */
  static from(input: unknown): Layout {
    // By what only the constructor gives: a prototype alone makes no layout.
    if (typeof input === "object" && input !== null && #shape in input) return input as Layout;
    return typeof input === "string" ? builtIn(input as LayoutName) : layoutOf(input as LayoutSpec);
  }

  /** The names that `Layout.named` knows. */
  static get names(): readonly LayoutName[] {
    return layoutNames();
  }

  /** The same layout with some of its parts changed, such as `{ epochMs }`. */
  with(changes: Partial<LayoutSpec>): Layout<P> {
    const { epochMs, tickMs, unsigned, fields } = this;
    const changed = checkKeys("INVALID_LAYOUT", "layout", changes, SPEC);
    return layoutOf({ epochMs, tickMs, unsigned, fields, ...changed }) as Layout<P>;
  }

  /** What the layout is made of: `new Layout(layout.toJSON())` is the same one. */
  toJSON(): Required<LayoutSpec> {
    const { epochMs, tickMs, unsigned, fields } = this;
    return { epochMs, tickMs, unsigned, fields };
  }

  /**
   * The ID as a `bigint`.
   *
   * @throws {DecodeError} `INVALID_ID` for anything that is not an ID of this layout, exactly.
   */
  parse(input: IdInput): bigint {
    return parseId(this.#shape, input);
  }

  /** The ID as a `bigint`, or `undefined` where `parse` would throw. */
  tryParse(input: unknown): bigint | undefined {
    try {
      return this.parse(input as IdInput);
    } catch {
      return undefined;
    }
  }

  /**
   * Takes an ID apart.
   *
   * @throws {DecodeError} `INVALID_ID` as `parse`.
   */
  decode(input: IdInput): Decoded<P> {
    return decodeId(this.#shape, input);
  }

  /**
   * Unix milliseconds of the start of an ID's tick.
   *
   * @throws {DecodeError} `INVALID_ID` as `parse`.
   */
  timestampOf(input: IdInput): number {
    return msOf(this.#shape, this.#shape.time.of(split(this.parse(input))));
  }

  /**
   * Takes many IDs apart, into a typed array for each field.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for anything but a BigUint64Array (or a BigInt64Array, up to 63 bits).
   * @throws {DecodeError} `INVALID_ID` at the first one that is not an ID of this layout.
   */
  decodeMany(ids: BigUint64Array | BigInt64Array): Columns {
    const { bits, time, node, clock, sequence } = this.#shape;
    if (!isIdArray(ids, "BigUint64Array") && !(bits < 64 && isIdArray(ids, "BigInt64Array"))) {
      throw configError("INVALID_ARGUMENT", "ids", ids, Rule.ID_COLUMN);
    }
    const length = lengthOf(ids);
    const halves = new Uint32Array(bufferOf(ids), offsetOf(ids), 2 * length);
    const unused = spanOf(bits, 64 - bits);
    const columns = {
      timestampMs: new Float64Array(length),
      node: node && new Uint32Array(length),
      clock: clock && new Uint32Array(length),
      sequence: new Float64Array(length),
    };
    for (let at = 0; at < length; at++) {
      if (unused.of(halves, 2 * at)) this.parse(ids[at] as bigint);
      columns.timestampMs[at] = msOf(this.#shape, time.of(halves, 2 * at));
      columns.sequence[at] = sequence.of(halves, 2 * at);
      if (columns.node) columns.node[at] = (node as Span).of(halves, 2 * at);
      if (columns.clock) columns.clock[at] = (clock as Span).of(halves, 2 * at);
    }
    return columns;
  }

  /**
   * Puts an ID together: the inverse of `decode`. It takes what that returns, and a copy with some fields changed; only the
   * time, the node id, the clock id and the sequence count.
   *
   * @throws {DecodeError} `TIME_OUT_OF_RANGE` for a time that the time field cannot hold.
   * @throws {ConfigError} `INVALID_NODE`, or `INVALID_ARGUMENT` for any other field that is missing, not in the layout, or
   * too large, and for a time that is not the start of a tick.
   */
  compose(fields: Composition<P>): bigint {
    const { timestampMs, node, clock, sequence } = checkKeys(
      "INVALID_ARGUMENT",
      "fields",
      fields,
      "timestampMs, node, clock, sequence",
      "id, date, parts",
    );
    const shape = this.#shape;
    const [tick, beyondMs] = this.#tickAt(timestampMs);
    if (beyondMs > 0) {
      throw configError("INVALID_ARGUMENT", "timestampMs", timestampMs, Rule.TICK_START, this.tickMs);
    }
    checkGiven("node", node, shape.node, Rule.FIELD_MISSING, Rule.FIELD_ABSENT);
    checkGiven("clock", clock, shape.clock, Rule.FIELD_MISSING, Rule.FIELD_ABSENT);
    return (
      encodeField(shape.time, tick) |
      encodeField(shape.node, shape.node && this.joinNode(node)) |
      encodeField(shape.clock, shape.clock && checkWhole("INVALID_ARGUMENT", "clock", clock, 0, shape.clock.max)) |
      encodeField(shape.sequence, checkWhole("INVALID_ARGUMENT", "sequence", sequence, 0, shape.sequence.max))
    );
  }

  /**
   * The smallest ID whose tick contains the time (a `Date` or Unix milliseconds): with `maxIdAt` an inclusive range for a
   * query. `node` must be given where the layout has node bits above its time, and only there.
   *
   * @throws {DecodeError} `TIME_OUT_OF_RANGE`; `NOT_TIME_ORDERED` where a clock or sequence field lies above the time.
   * @throws {ConfigError} `INVALID_NODE` or `INVALID_ARGUMENT` for a node id that is wrong, missing or not wanted.
   */
  minIdAt(time: Date | number, options: { readonly node?: NodeInput<P> } = {}): bigint {
    const shape = this.#shape;
    const { shift } = shape.time;
    const isAbove = (kind: FieldKind) => (shape[kind]?.shift ?? 0) > shift;
    for (const kind of ["clock", "sequence"] as const) {
      if (isAbove(kind)) throw refusal(DecodeError, "NOT_TIME_ORDERED", kind, this.fields, Rule.NOTHING_UNORDERED);
    }
    const { node } = checkKeys("INVALID_ARGUMENT", "options", options, "node");
    const [tick] = this.#tickAt(time);
    checkGiven("node", node, isAbove("node"), Rule.FIELD_ABOVE, Rule.FIELD_BELOW);
    const id = encodeField(shape.time, tick) | encodeField(shape.node, node === undefined ? 0 : this.joinNode(node));
    // What of the node lies below the time goes.
    return (id >> BigInt(shift)) << BigInt(shift);
  }

  /** The largest ID whose tick contains the time. See `minIdAt`. */
  maxIdAt(time: Date | number, options?: { readonly node?: NodeInput<P> }): bigint {
    return this.minIdAt(time, options) | (2n ** BigInt(this.#shape.time.shift) - 1n);
  }

  /**
   * The ID as a signed 64-bit column holds it: the same bits.
   *
   * @throws {DecodeError} `INVALID_ID` as `parse`.
   */
  toSigned(input: IdInput): bigint {
    return BigInt.asIntN(64, this.parse(input));
  }

  /**
   * The ID that a signed 64-bit column holds, as `bigint` or decimal text.
   *
   * @throws {DecodeError} `INVALID_ID` where the layout has no such ID.
   */
  fromSigned(signed: bigint | string): bigint {
    const number = typeof signed === "string" && /^-[1-9]\d{0,19}$/.test(signed) ? BigInt(signed) : signed;
    const isNegative = typeof number === "bigint" && number < 0n && number === BigInt.asIntN(64, number);
    return isNegative && this.#shape.bits > 63 ? BigInt.asUintN(64, number) : this.parse(number);
  }

  /** What the layout can hold: for choosing widths, and for telling when they run out. */
  plan(): Plan {
    const { bits, time, node, clock, sequence } = this.#shape;
    const dateOf = (tick: number) => new Date(msOf(this.#shape, tick));
    const idsPerTick = (sequence.max + 1) * ((clock?.max ?? 0) + 1);
    return {
      lastDate: dateOf(time.max),
      signedUntil:
        bits < 64 ? dateOf(time.max) : this.fields[0]?.kind === "time" ? dateOf((time.max - 1) / 2) : undefined,
      ordered: time.shift > (clock ?? sequence).shift && (clock ?? time).shift > sequence.shift,
      nodes: (node?.max ?? 0) + 1,
      idsPerTick,
      idsPerSecond: (idsPerTick * 1000) / this.tickMs,
    };
  }

  /**
   * A node id as one number.
   *
   * @throws {ConfigError} `INVALID_NODE`, naming the part at fault.
   */
  joinNode(node: NodeInput<P> | undefined): number {
    const { node: span, parts } = this.#shape;
    if (!span) throw configError("INVALID_NODE", "node", node, Rule.NODE_NONE);
    if (typeof node !== "object" || node === null) return checkWhole("INVALID_NODE", "node", node, 0, span.max);
    const names = parts.map(([name]) => name);
    const own = ownOf(node);
    const given = Object.keys(own);
    if (given.length !== names.length || !names.every((name) => given.includes(name))) {
      const list = names.join(", ");
      const unknown = given.find((name) => !names.includes(name));
      const hint = unknown === undefined ? "" : hintOf(unknown, list, "");
      throw configError("INVALID_NODE", "node", node, `${Rule.PART_NAMES}: ${list}${hint}`);
    }
    return parts.reduce(
      (id, [name, count]) => id * count + checkWhole("INVALID_NODE", `node.${name}`, own[name as P], 0, count - 1),
      0,
    );
  }

  /** The tick that contains a time, and how far into it that lies. */
  #tickAt(time: unknown): [tick: number, beyondMs: number] {
    const ms = msGiven(time);
    const last = msOf(this.#shape, this.#shape.time.max + 1) - 1;
    if (!isWhole(ms, this.epochMs, last)) {
      throw refusal(DecodeError, "TIME_OUT_OF_RANGE", "timestampMs", time, Rule.TIME_RANGE, this.epochMs, last);
    }
    const beyondMs = (ms - this.epochMs) % this.tickMs;
    return [(ms - this.epochMs - beyondMs) / this.tickMs, beyondMs];
  }
}

// Outside the class: a bundler gives a class that refers to itself another name in stack traces.
const layoutOf = (spec: LayoutSpec): Layout => new Layout(spec);
/** Whether that is the class itself, and not one derived from it. */
const isLayout = (target: unknown): boolean => target === Layout;

function builtIn(name: LayoutName): Layout {
  let layout = builtIns.get(name);
  if (!layout) {
    layout = layoutOf(namedSpec(name));
    builtIns.set(name, layout);
  }
  return layout;
}
