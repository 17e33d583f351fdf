/**
 * Layouts: the meaning of the 64 bits of an ID, and everything that can be done with an ID without a generator. It uses no
 * WebAssembly and no native code, so it runs under any content security policy. `frazil` exports the same class; a program that imports it
 * from `frazil/layout` is deployed without the WebAssembly module, whatever the bundler.
 *
 * ```js
 * import { Layout } from "frazil/layout";
 *
 * Layout.named("discord").decode("175928847299117063").date; // 2016-04-30T11:18:25.796Z
 * ```
 *
 * This part of the core, like the text forms, also exists in JavaScript: a call into native code or WebAssembly costs more than decoding
 * one ID, and a page may forbid WebAssembly. The texts of the rules and the table of layouts are generated from the core. The vectors in
 * `crates/core/vectors` test that both sides agree.
 */
import { Decoding, isIdOf } from "#decoding";
import { msGiven } from "../base/dates.js";
import { configError, DecodeError, isWhole, refusal, whole } from "../base/errors.js";
import { checkKeys, hintOf } from "../base/option-keys.js";
import { ownOf } from "../base/own-properties.js";
import { hideName } from "../base/printing.js";
import { describedError } from "../base/value-text.js";
import { type LayoutParts, SECONDS_END } from "../generated/layouts.js";
import { Rule } from "../generated/rules.js";
import { type Span, split } from "./bits.js";
import { type Columns, columnsOf, NUMBERS } from "./columns.js";
import { type Decoded, decodeId, type NodeParts } from "./decoded.js";
import { nodeGiven } from "./default-nodes.js";
import {
  type CheckedSpec,
  type FieldKind,
  type IdInput,
  type LayoutField,
  type LayoutName,
  type LayoutSpec,
  layoutNames,
  namedSpec,
  parseId,
} from "./id.js";
import { msOf, type Shape } from "./shape.js";
import { checkedSpec, invalid, SPEC } from "./spec.js";
import { anyMs, timeHint } from "./times.js";

export { ConfigError, DecodeError, type ErrorCode, FrazilError } from "../base/errors.js";
export type { Columns } from "./columns.js";
export type { Decoded, NodeParts } from "./decoded.js";
export type { CheckedSpec, FieldKind, Id, IdInput, IdText, LayoutField, LayoutName, LayoutSpec } from "./id.js";

/** A layout: the name of a built-in one, a definition, or a `Layout`. */
export type LayoutInput = LayoutName | LayoutSpec | Layout<string>;

/** The names of the node parts of a layout. It types `node` and `parts`. */
export type PartsOf<L> = L extends LayoutName
  ? LayoutParts[L]
  : L extends Layout<infer P>
    ? P
    : L extends { readonly fields: readonly (infer F)[] }
      ? F extends { readonly kind: infer K }
        ? FieldKind extends K
          ? string // a list of fields that the compiler does not know
          : F extends { readonly kind: "node"; readonly name: infer N extends string }
            ? N
            : K extends "node"
              ? "node"
              : never
        : never
      : string;

/** The result of a layout's `decode`: `DecodedOf<"twitter">`, or `DecodedOf<typeof ids.layout>`. */
export type DecodedOf<L> = Decoded<PartsOf<L>>;

/** A node id: one number, or its parts by name. */
export type NodeInput<P extends string = string> = number | string | NodeParts<P>;

/** The fields from which `compose` makes an ID. */
export interface Composition<P extends string = string> {
  /** The start of a tick: a `Date` or Unix milliseconds. */
  readonly timestampMs: number | Date;
  /** The node id, if the layout has a node field. */
  readonly node?: NodeInput<P> | undefined;
  /** The clock id, if the layout has a clock field. */
  readonly clock?: number | undefined;
  readonly sequence: number;
}

/** The capacity of a layout. */
export interface Plan {
  /** The last time that an ID can hold. */
  readonly lastDate: Date;
  /**
   * The last time whose IDs are positive in a signed 64-bit column; `undefined` if the sign does not depend on the
   * time.
   */
  readonly signedUntil: Date | undefined;
  /**
   * Whether the IDs of one generator strictly increase: the time is above the clock id, which is above the sequence.
   */
  readonly ordered: boolean;
  /** The number of node ids; 1 without a node field. */
  readonly nodes: number;
  /** The most IDs that one node can issue in a tick. */
  readonly idsPerTick: number;
  /** The most IDs that one node can issue in a second. */
  readonly idsPerSecond: number;
}

/** The IDs of a stretch of time: `id >= fromId AND id < untilId`. */
export interface IdRange {
  readonly fromId: bigint;
  readonly untilId: bigint;
}

/** Throws if a field is given that the layout does not have, or the reverse. */
function checkGiven(field: string, value: unknown, wanted: unknown, missing: string, unwanted: string): void {
  if ((value === undefined) === !wanted) return;
  throw configError("INVALID_ARGUMENT", field, value, wanted ? missing : unwanted);
}

/** The bits of a number in an ID; 0 for a field that the layout does not have. */
function encodeField(span: Span | undefined, value = 0): bigint {
  let id = 0n;
  for (const { shift, max } of span ? (span.runs ?? [span]) : []) {
    id |= BigInt(value % (max + 1)) << BigInt(shift);
    value = Math.floor(value / (max + 1));
  }
  return id;
}

/**
 * The built-in layouts that were used so far. They never change, and reading one from the table takes 30 times longer.
 */
const builtIns = /* @__PURE__ */ new Map<LayoutName, Layout>();

/**
 * The meaning of the 64 bits of an ID: the fields in order, the epoch, and the length of a tick.
 *
 * ```js
 * Layout.named("discord").decode("175928847299117063").date; // 2016-04-30T11:18:25.796Z
 * ```
 */
export class Layout<P extends string = string> {
  /** Keeps the name when a minifier renames the class. @internal */
  static readonly name: string = "Layout";
  // @ts-expect-error: nobody reads it
  // biome-ignore lint/correctness/noUnusedPrivateClassMembers: a call in a field is left out with the class, and one outside is not
  static readonly #printed = /* @__PURE__ */ hideName(this);
  // `declare`, because the constructor defines them read-only. After a change, a layout could not decode its earlier IDs.
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
   * Checks a definition and makes a layout from it.
   *
   * @throws {ConfigError} `INVALID_LAYOUT` with the field, the value and the rule.
   */
  constructor(spec: LayoutSpec) {
    const [checked, shape] = checkedSpec(spec);
    // Defined, not assigned: a subclass may have setters with these names.
    for (const [name, value] of Object.entries(checked)) {
      Object.defineProperty(this, name, ownOf({ value, enumerable: true }));
    }
    this.#shape = shape;
    // Not in a subclass, whose own fields are defined later.
    if (isLayout(new.target)) Object.freeze(this);
  }

  /**
   * A built-in layout.
   *
   * @throws {ConfigError} `INVALID_LAYOUT` if the name is not one of `Layout.names`.
   */
  static named<N extends LayoutName>(name: N): Layout<LayoutParts[N]> {
    return builtIn(name) as never;
  }

  /** The layout for a value of type `LayoutInput`. @internal */
  static from(input: unknown): Layout {
    // Tests for a private field, which only the constructor adds. An object with the prototype alone is not a layout.
    if (typeof input === "object" && input !== null && #shape in input) return input as Layout;
    return typeof input === "string" || input === undefined
      ? builtIn(input as LayoutName)
      : layoutOf(input as LayoutSpec);
  }

  /** The names of the built-in layouts. */
  static get names(): readonly LayoutName[] {
    return layoutNames();
  }

  /** A layout with some properties changed, such as `{ epochMs }`. */
  with(changes: Partial<LayoutSpec>): Layout<P> {
    const { epochMs, tickMs, unsigned, fields } = this;
    const changed = checkKeys("INVALID_LAYOUT", "layout", changes, SPEC);
    return layoutOf({ epochMs, tickMs, unsigned, fields, ...changed }) as Layout<P>;
  }

  /** The definition of the layout: `new Layout(layout.toJSON())` is an equal layout. */
  toJSON(): CheckedSpec {
    const { epochMs, tickMs, unsigned, fields } = this;
    return { epochMs, tickMs, unsigned, fields };
  }

  /**
   * The ID as a `bigint`.
   *
   * @throws {DecodeError} `INVALID_ID` if the value is not exactly an ID of this layout.
   */
  parse(input: IdInput): bigint {
    return Decoding.FAST && isIdOf(this.#shape, input) ? input : parseId(this.#shape, input);
  }

  /** The ID as a `bigint`, or `undefined` if `parse` would throw. */
  tryParse(input: unknown): bigint | undefined {
    try {
      return this.parse(input as IdInput);
    } catch {
      return undefined;
    }
  }

  /**
   * Decodes an ID.
   *
   * @throws {DecodeError} `INVALID_ID` as `parse`.
   */
  decode(input: IdInput): Decoded<P> {
    return decodeId(this.#shape, input);
  }

  /**
   * The start of an ID's tick, in Unix milliseconds.
   *
   * @throws {DecodeError} `INVALID_ID` as `parse`.
   */
  timestampOf(input: IdInput): number {
    return msOf(this.#shape, this.#shape.time.of(split(this.parse(input))));
  }

  /**
   * Decodes many IDs into one typed array for each field: new ones, or those of `into`, such as an earlier result. They must have
   * the length of `ids`, and overlap neither them nor each other. If an ID is refused, nothing is written.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` if the argument is not a BigUint64Array, or, for a layout of up to 63
   * bits, a BigInt64Array; or if `into` does not have the fields of the layout in such arrays.
   * @throws {DecodeError} `INVALID_ID` for the first value that is not an ID of this layout, with its `index`.
   */
  decodeMany(ids: BigUint64Array | BigInt64Array, into?: Columns): Columns {
    return columnsOf(this.#shape, ids, into);
  }

  /**
   * Makes an ID from its fields: the inverse of `decode`. It accepts the result of `decode`, or a copy with some fields
   * changed. It uses only the time, the node id, the clock id and the sequence.
   *
   * @throws {DecodeError} `TIME_OUT_OF_RANGE` if the time field cannot hold the time.
   * @throws {ConfigError} `INVALID_NODE`. `INVALID_ARGUMENT` if another field is missing, too large, or not in the
   * layout, or if the time is not the start of a tick.
   */
  compose(fields: Composition<P>): bigint {
    const { timestampMs, node, clock, sequence } = checkKeys(
      "INVALID_ARGUMENT",
      "fields",
      fields,
      NUMBERS,
      "id, date, parts",
    );
    const shape = this.#shape;
    const [tick, beyondMs] = this.#tickAt(timestampMs);
    if (beyondMs > 0) {
      throw configError("INVALID_ARGUMENT", "timestampMs", timestampMs, Rule.TICK_START, this.tickMs);
    }
    for (const [field, given] of Object.entries({ node, clock }))
      checkGiven(field, given, shape[field as FieldKind], Rule.FIELD_MISSING, Rule.FIELD_ABSENT);
    return (
      encodeField(shape.time, tick) |
      encodeField(shape.node, shape.node && this.joinNode(node)) |
      encodeField(shape.clock, shape.clock && whole("INVALID_ARGUMENT", "clock", clock, 0, shape.clock.max)) |
      encodeField(shape.sequence, whole("INVALID_ARGUMENT", "sequence", sequence, 0, shape.sequence.max))
    );
  }

  /**
   * The IDs of a stretch of time, half open, for a query: `id >= fromId AND id < untilId`. The times are `Date`s or Unix
   * milliseconds. A range has the ticks from the one that contains `from` up to, but not including, the one that contains `to`. Adjacent
   * ranges share no ID and leave none out.
   *
   * A time before the epoch counts as the epoch, but a time in seconds is refused: below 1e11 and before the epoch, if the layout holds its
   * thousandfold. Beyond the last tick, `untilId` is one more than the largest ID (of that node id). Both are at most 2^63 - 1, or 2^64 - 1
   * in a layout of 64 bits, as a column takes no more: the last ID of such a layout is in no range. Generators may be ahead of the clock by
   * their lead (`maxLeadMs`, up to a second), so a range up to now may miss existing IDs. `node` is that of `minIdAt`.
   *
   * @throws {DecodeError} `NOT_TIME_ORDERED` as `minIdAt`. `TIME_OUT_OF_RANGE` for a time that is not a whole number
   * of milliseconds, such as an invalid `Date`, or that is in seconds.
   * @throws {ConfigError} `INVALID_ARGUMENT` if `from` is after `to`; `INVALID_NODE` or `INVALID_ARGUMENT` as `minIdAt`.
   */
  range(from: Date | number, to: Date | number, options: { readonly node?: NodeInput<P> } = {}): IdRange {
    const [fromId, untilId] = this.#firstIds(options, () => {
      const isInSeconds = (ms: number) => ms < SECONDS_END && SECONDS_END <= this.epochMs && this.#holds(ms * 1000);
      const [fromMs, toMs] = [anyMs("from", from, isInSeconds), anyMs("to", to, isInSeconds)];
      if (fromMs > toMs) throw configError("INVALID_ARGUMENT", "from", fromMs, Rule.FROM_AFTER_TO, 0, toMs);
      const beyond = this.#shape.time.max + 1;
      return [fromMs, toMs].map((ms) => (ms > this.epochMs ? Math.min(this.#split(ms)[0], beyond) : 0));
    });
    return { fromId: fromId as bigint, untilId: untilId as bigint };
  }

  /**
   * The smallest ID whose tick contains the time, which is a `Date` or Unix milliseconds. With `maxIdAt` it gives the
   * inclusive range of one tick; for longer times see `range`. If the layout has node bits above the time, `node` is
   * required; otherwise it must be left out.
   *
   * @throws {DecodeError} `TIME_OUT_OF_RANGE`. `NOT_TIME_ORDERED` if a clock or sequence field is above the time.
   * @throws {ConfigError} `INVALID_NODE` or `INVALID_ARGUMENT` if the node id is invalid, missing, or must be left out.
   */
  minIdAt(time: Date | number, options: { readonly node?: NodeInput<P> } = {}): bigint {
    return this.#firstIds(options, () => [this.#tickAt(time)[0]])[0] as bigint;
  }

  /**
   * The largest ID whose tick contains the time. See `minIdAt`. Larger IDs may exist at that time: a generator may be ahead of the clock by
   * its lead (`maxLeadMs`, up to a second).
   */
  maxIdAt(time: Date | number, options?: { readonly node?: NodeInput<P> }): bigint {
    return this.minIdAt(time, options) | (2n ** BigInt(this.#shape.time.shift) - 1n);
  }

  /**
   * The ID as a signed 64-bit column stores it: the same bits.
   *
   * @throws {DecodeError} `INVALID_ID` as `parse`.
   */
  toSigned(input: IdInput): bigint {
    return BigInt.asIntN(64, this.parse(input));
  }

  /**
   * The ID for a value of a signed 64-bit column, given as a `bigint` or decimal text.
   *
   * @throws {DecodeError} `INVALID_ID` if the layout has no such ID.
   */
  fromSigned(signed: bigint | string): bigint {
    const number = typeof signed === "string" && /^-[1-9]\d{0,19}$/.test(signed) ? BigInt(signed) : signed;
    const isNegative = typeof number === "bigint" && number < 0n && number === BigInt.asIntN(64, number);
    return isNegative && this.#shape.bits > 63 ? BigInt.asUintN(64, number) : this.parse(number);
  }

  /** The capacity of the layout: helps to choose widths, and says when the time runs out. */
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
   * @throws {ConfigError} `INVALID_NODE`, with the name of the part at fault.
   */
  joinNode(node: NodeInput<P> | undefined): number {
    const { node: span, parts } = this.#shape;
    if (!span) throw configError("INVALID_NODE", "node", node, Rule.NODE_NONE);
    if (typeof node !== "object" || node === null)
      return whole("INVALID_NODE", "node", nodeGiven(node), 0, span.max, node);
    const names = parts.map(([name]) => name);
    const own = ownOf(node);
    const given = Object.keys(own);
    if (given.length !== names.length || !names.every((name) => given.includes(name))) {
      const list = names.join(", ");
      const unknown = given.find((name) => !names.includes(name));
      const hint = unknown === undefined ? "" : hintOf(unknown, list, "");
      const cure = names[1] ? `Pass { ${list} }, or a number.` : "Pass a number.";
      throw describedError("INVALID_NODE", "node", node, `${Rule.PART_NAMES}\n${[hint, cure].join(" ").trim()}`);
    }
    return parts.reduce((id, [name, count]) => {
      const part = own[name as P];
      return id * count + whole("INVALID_NODE", `node.${name}`, nodeGiven(part), 0, count - 1, part);
    }, 0);
  }

  /**
   * The first ID of each tick in a list, which may extend one beyond the last tick. It calls `ticksOf` after checking that only node fields
   * lie above the time.
   */
  #firstIds(options: { readonly node?: NodeInput<P> }, ticksOf: () => readonly number[]): bigint[] {
    const shape = this.#shape;
    const isAbove = (kind: FieldKind) => (shape[kind]?.shift ?? 0) > shape.time.shift;
    for (const kind of ["clock", "sequence"] as const) {
      if (isAbove(kind)) throw refusal(DecodeError, "NOT_TIME_ORDERED", kind, this.fields, Rule.NOTHING_UNORDERED);
    }
    const { node } = checkKeys("INVALID_ARGUMENT", "options", options, "node");
    const ticks = ticksOf();
    checkGiven("node", node, isAbove("node"), Rule.FIELD_ABOVE, Rule.FIELD_BELOW);
    const shift = BigInt(shape.time.shift);
    // Without the node bits below the time. The bits of the time are 0 in it.
    const above = encodeField(shape.node, node === undefined ? 0 : this.joinNode(node)) >> shift;
    // One more than the largest ID of 63 or 64 bits is one too many for a column.
    const end = BigInt(Math.max(shape.bits, 63));
    return ticks.map((tick) => (above + BigInt(tick)) << shift).map((id) => id - (id >> end));
  }

  /** The tick that contains a time, and the milliseconds from its start to that time. */
  #tickAt(time: unknown): [tick: number, beyondMs: number] {
    const ms = msGiven(time);
    if (!this.#holds(ms)) {
      const rule = Rule.TIME_RANGE + timeHint(ms, (seconds) => this.#holds(seconds * 1000));
      throw describedError("TIME_OUT_OF_RANGE", "timestampMs", time, rule, this.epochMs, this.#lastMs());
    }
    return this.#split(ms);
  }

  /** The last millisecond of the last tick. */
  #lastMs(): number {
    return msOf(this.#shape, this.#shape.time.max + 1) - 1;
  }

  /** Whether an ID can hold a value as its time. */
  #holds(ms: unknown): ms is number {
    return isWhole(ms, this.epochMs, this.#lastMs());
  }

  /** The same for any time from the epoch on, even beyond the last tick. */
  #split(ms: number): [tick: number, beyondMs: number] {
    const beyondMs = (ms - this.epochMs) % this.tickMs;
    return [(ms - this.epochMs - beyondMs) / this.tickMs, beyondMs];
  }
}

// Outside the class: bundlers rename a class that refers to itself, and stack traces would show that name.
const layoutOf = (spec: LayoutSpec): Layout => new Layout(spec);
/** Whether a constructor is `Layout` itself instead of a derived class. */
const isLayout = (target: unknown): boolean => target === Layout;

function builtIn(name: LayoutName): Layout {
  let layout = builtIns.get(name);
  if (!layout) {
    const known = layoutNames();
    const hint = typeof name === "string" && !known.includes(name) && hintOf(name, known.join(", "), "");
    if (hint) throw invalid("layout", name, `${Rule.KNOWN_LAYOUT}\n${hint}`);
    layout = layoutOf(namedSpec(name));
    builtIns.set(name, layout);
  }
  return layout;
}
