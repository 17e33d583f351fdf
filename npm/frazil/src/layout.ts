/**
 * Layouts: what the 64 bits of an ID mean, and everything that can be asked of an ID without a generator.
 *
 * This is the one part of the core's semantics that JavaScript has too: a crossing into native code or WebAssembly costs
 * more than taking one ID apart, and a page may forbid WebAssembly. The rules' sentences and the table of layouts are
 * generated from the core, and the vectors in `crates/core/vectors` hold both sides together.
 */
import { join, joined, type Span, spanOf, split } from "./bits.js";
import { ConfigError, DecodeError, type ErrorCode, refusal } from "./errors.js";
import { LAYOUTS, type LayoutParts } from "./generated/layouts.js";
import * as rules from "./generated/rules.js";

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
/** The widest field of each kind. */
const WIDTHS: Record<FieldKind, number> = { time: 64, node: 64, clock: 8, sequence: 53 };
const KINDS = /* @__PURE__ */ Object.keys(WIDTHS) as FieldKind[];

function config(code: ErrorCode, field: string, value: unknown, rule: string, min?: unknown, max?: unknown): Error {
  return refusal(ConfigError, code, field, value, rule, min, max);
}

const invalid = (field: string, value: unknown, rule: string, max?: number): Error =>
  config("INVALID_LAYOUT", field, value, rule, 0, max);

function checkWhole(code: ErrorCode, field: string, value: unknown, min: number, max: number): number {
  if (!(Number.isInteger(value) && (value as number) >= min && (value as number) <= max)) {
    throw config(code, field, value, rules.WHOLE_NUMBER, min, max);
  }
  return value as number;
}

/** An object without keys that nobody reads: a misspelt one would silently be a default. */
function checkKeys<T>(code: ErrorCode, field: string, given: T, known: string): T & object {
  if (typeof given !== "object" || given === null) throw config(code, field, given, rules.AN_OBJECT);
  for (const [key, value] of Object.entries(given)) {
    if (!known.split(", ").includes(key)) throw config(code, key, value, `${rules.KNOWN_KEY}: ${known}`);
  }
  return given;
}

/** A field is given exactly where the layout has it. */
function checkGiven(field: string, value: unknown, wanted: unknown, missing: string, unwanted: string): void {
  if ((value === undefined) === !wanted) return;
  throw config("INVALID_ARGUMENT", field, value, wanted ? missing : unwanted);
}

/** Whether a value is a typed array of that name, of whichever realm; not to be deceived by a property. */
export function isIdArray(value: unknown, name: "BigUint64Array" | "BigInt64Array"): boolean {
  const { prototype } = Object.getPrototypeOf(Uint8Array);
  return Object.getOwnPropertyDescriptor(prototype, Symbol.toStringTag)?.get?.call(value) === name;
}

class DecodedId<P extends string> implements Decoded<P> {
  readonly #layout: Layout<P>;

  constructor(
    layout: Layout<P>,
    readonly id: bigint,
    readonly timestampMs: number,
    readonly node: number | undefined,
    readonly clock: number | undefined,
    readonly sequence: number,
  ) {
    this.#layout = layout;
  }

  get date(): Date {
    return new Date(this.timestampMs);
  }

  get parts(): { readonly [K in P]: number } | undefined {
    return this.node === undefined ? undefined : this.#layout.splitNode(this.node);
  }

  toJSON(): object {
    return { ...this, id: `${this.id}`, date: this.date, parts: this.parts };
  }
}

/** A field as it is kept, with nothing in it that nobody reads. */
function copyField(field: LayoutField): LayoutField {
  const { kind, bits, name } = checkKeys("INVALID_LAYOUT", "fields", field, "kind, bits, name");
  if (!KINDS.includes(kind)) throw invalid("kind", kind, rules.KNOWN_KIND);
  checkWhole("INVALID_LAYOUT", "bits", bits, 1, WIDTHS[kind]);
  if (name === undefined) return { kind, bits };
  if (kind !== "node") throw invalid("name", name, rules.NAME_ONLY_NODE);
  if (typeof name !== "string" || !/^[a-z][\w-]{0,31}$/i.test(name)) throw invalid("name", name, rules.NAME_SYNTAX);
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
  /** Unix milliseconds of tick 0. */
  readonly epochMs: number;
  /** The length of a tick in milliseconds. */
  readonly tickMs: number;
  /** Whether the fields may use all 64 bits. */
  readonly unsigned: boolean;
  /** The fields, from the most to the least significant. */
  readonly fields: readonly LayoutField[];
  /** How many bits the layout uses. */
  readonly bits: number;
  readonly #time: Span;
  readonly #sequence: Span;
  readonly #clock: Span | undefined;
  readonly #node: Span | undefined;
  /** The largest value of each part of the node id, by its name, from the most significant. */
  readonly #parts: readonly (readonly [name: string, max: number])[];
  readonly #maxId: bigint;

  /**
   * Checks a layout and makes it.
   *
   * @throws {ConfigError} `INVALID_LAYOUT` with the field, the value and the rule.
   */
  constructor(spec: LayoutSpec) {
    const { epochMs, tickMs = 1, unsigned = false, fields } = checkKeys("INVALID_LAYOUT", "layout", spec, "epochMs, tickMs, unsigned, fields");
    if (!Array.isArray(fields)) throw invalid("fields", fields, rules.ONE_TIME);
    if (typeof unsigned !== "boolean") throw invalid("unsigned", unsigned, rules.TRUE_OR_FALSE);
    this.epochMs = checkWhole("INVALID_LAYOUT", "epochMs", epochMs, 0, Number.MAX_SAFE_INTEGER);
    this.tickMs = checkWhole("INVALID_LAYOUT", "tickMs", tickMs, 1, Number.MAX_SAFE_INTEGER);
    this.unsigned = unsigned;
    this.fields = Object.freeze(fields.map((field) => Object.freeze(copyField(field))));

    /** The places of the fields of each kind; node parts that are neighbours are one. */
    const places: Record<FieldKind, [shift: number, bits: number][]> = { time: [], node: [], clock: [], sequence: [] };
    const parts: [string, number][] = [];
    let last: FieldKind | undefined;
    let total = 0;
    for (const { kind, bits, name = "node" } of [...this.fields].reverse()) {
      const [first] = places[kind];
      if (kind === "node") {
        if (parts.some(([other]) => other === name)) throw invalid("name", name, rules.DISTINCT_NAMES);
        parts.unshift([name, 2 ** bits - 1]);
      }
      if (kind === "node" && last === "node" && first) first[1] += bits;
      else places[kind].unshift([total, bits]);
      last = kind;
      total += bits;
    }
    const { time, node, clock, sequence } = places;
    const nodeBits = node.reduce((sum, [, bits]) => sum + bits, 0);
    const limit = unsigned ? 64 : 63;
    if (time.length !== 1) throw invalid("fields", fields, rules.ONE_TIME);
    if (sequence.length !== 1) throw invalid("fields", fields, rules.ONE_SEQUENCE);
    if (clock.length > 1) throw invalid("fields", fields, rules.ONE_CLOCK);
    if (nodeBits > 32) throw invalid("fields", nodeBits, rules.NODE_WIDTH, 32);
    if (total > limit) throw invalid("fields", total, rules.WIDTH, limit);
    const [timeSpan, nodeSpan, clockSpan, sequenceSpan] = [time, node, clock, sequence].map((list) => {
      const spans = list.map(([shift, bits]) => spanOf(shift, bits));
      return spans.length > 1 ? joined(spans) : spans[0];
    });
    this.#time = timeSpan as Span;
    this.#node = nodeSpan;
    this.#clock = clockSpan;
    this.#sequence = sequenceSpan as Span;
    if (this.#time.max > Math.floor((MAX_DATE_MS - epochMs) / tickMs)) throw invalid("fields", fields, rules.LAST_TICK);
    this.bits = total;
    this.#parts = parts;
    this.#maxId = 2n ** BigInt(total) - 1n;
  }

  /**
   * A built-in layout.
   *
   * @throws {ConfigError} `INVALID_LAYOUT` for a name that is none of `Layout.names`.
   */
  static named<N extends LayoutName>(name: N): Layout<LayoutParts[N]> {
    const row = LAYOUTS.split("\n").find((row) => row.startsWith(`${name} `));
    if (!row) throw invalid("layout", name, `${rules.KNOWN_LAYOUT}: ${Layout.names.join(", ")}`);
    const [, epochMs, tickMs, unsigned, ...fields] = row.split(" ");
    return new Layout({
      epochMs: Number(epochMs),
      tickMs: Number(tickMs),
      unsigned: unsigned === "1",
      fields: fields.map((field) => {
        const [width, name] = field.split(":") as [string, string?];
        const kind = KINDS.find((kind) => kind[0] === width[0]) as FieldKind;
        return { kind, bits: Number(width.slice(1)), ...(name && { name }) };
      }),
    });
  }

  /** A layout given in any of its forms. @internal */
  static from(input: unknown): Layout {
    if (input instanceof Layout) return input;
    return typeof input === "string" ? Layout.named(input as LayoutName) : new Layout(input as LayoutSpec);
  }

  /** The names that `Layout.named` knows. */
  static get names(): readonly LayoutName[] {
    return LAYOUTS.split("\n").map((row) => row.split(" ")[0] as LayoutName);
  }

  /** The same layout with some of its parts changed, such as `{ epochMs }`. */
  with(changes: Partial<LayoutSpec>): Layout<P> {
    return new Layout({ ...this.toJSON(), ...checkKeys("INVALID_LAYOUT", "layout", changes, "epochMs, tickMs, unsigned, fields") });
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
    const refuse = (rule: string) => refusal(DecodeError, "INVALID_ID", "id", input, rule, 0, this.#maxId);
    let id = input;
    if (typeof id === "string") {
      if (!/^(0|[1-9]\d*)$/.test(id)) throw refuse(rules.ID_TEXT);
      // No ID has more than 20 digits, and a long text would take long to read.
      id = BigInt(id.slice(0, 21));
    } else if (typeof id !== "bigint") {
      if (!Number.isSafeInteger(id)) throw refuse(rules.ID_INPUT);
      id = BigInt(id);
    }
    if (id < 0n || id > this.#maxId) throw refuse(rules.ID_RANGE);
    return id;
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
    const id = this.parse(input);
    const halves = split(id);
    const ms = this.#msOf(this.#time.of(halves));
    return new DecodedId(this, id, ms, this.#node?.of(halves), this.#clock?.of(halves), this.#sequence.of(halves));
  }

  /**
   * Unix milliseconds of the start of an ID's tick.
   *
   * @throws {DecodeError} `INVALID_ID` as `parse`.
   */
  timestampOf(input: IdInput): number {
    return this.#msOf(this.#time.of(split(this.parse(input))));
  }

  /**
   * Takes many IDs apart, into a typed array for each field.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for anything but a BigUint64Array (or a BigInt64Array, up to 63 bits).
   * @throws {DecodeError} `INVALID_ID` at the first one that is not an ID of this layout.
   */
  decodeMany(ids: BigUint64Array | BigInt64Array): Columns {
    if (!isIdArray(ids, "BigUint64Array") && !(this.bits < 64 && isIdArray(ids, "BigInt64Array"))) {
      throw config("INVALID_ARGUMENT", "ids", ids, rules.ID_COLUMN);
    }
    const { length } = ids;
    const halves = new Uint32Array(ids.buffer, ids.byteOffset, 2 * length);
    const unused = this.bits < 64 && spanOf(this.bits, 64 - this.bits);
    const timestampMs = new Float64Array(length);
    const node = this.#node && new Uint32Array(length);
    const clock = this.#clock && new Uint32Array(length);
    const sequence = new Float64Array(length);
    for (let at = 0; at < length; at++) {
      if (unused && unused.of(halves, 2 * at)) this.parse(ids[at] as bigint);
      timestampMs[at] = this.#msOf(this.#time.of(halves, 2 * at));
      sequence[at] = this.#sequence.of(halves, 2 * at);
      if (node) node[at] = (this.#node as Span).of(halves, 2 * at);
      if (clock) clock[at] = (this.#clock as Span).of(halves, 2 * at);
    }
    return { timestampMs, node, clock, sequence };
  }

  /**
   * Puts an ID together: the inverse of `decode`, whose result it takes too.
   *
   * @throws {DecodeError} `TIME_OUT_OF_RANGE` for a time that the time field cannot hold.
   * @throws {ConfigError} `INVALID_NODE`, or `INVALID_ARGUMENT` for any other field that is missing, not in the layout, or
   * too large, and for a time that is not the start of a tick.
   */
  compose(fields: Composition<P>): bigint {
    const { timestampMs, node, clock, sequence } =
      fields instanceof DecodedId
        ? fields
        : checkKeys("INVALID_ARGUMENT", "fields", fields, "timestampMs, node, clock, sequence");
    const tick = this.#tickAt(timestampMs);
    if (this.#msOf(tick) !== Number(timestampMs)) {
      throw config("INVALID_ARGUMENT", "timestampMs", timestampMs, rules.TICK_START, this.tickMs);
    }
    checkGiven("node", node, this.#node, rules.FIELD_MISSING, rules.FIELD_ABSENT);
    checkGiven("clock", clock, this.#clock, rules.FIELD_MISSING, rules.FIELD_ABSENT);
    const id = this.#node ? this.joinNode(node) : 0;
    if (this.#clock) checkWhole("INVALID_ARGUMENT", "clock", clock, 0, this.#clock.max);
    checkWhole("INVALID_ARGUMENT", "sequence", sequence, 0, this.#sequence.max);
    split(0n);
    this.#time.put(tick);
    this.#node?.put(id);
    this.#clock?.put(clock as number);
    this.#sequence.put(sequence);
    return join();
  }

  /**
   * The smallest ID whose tick contains the time (a `Date` or Unix milliseconds): with `maxIdAt` an inclusive range for a
   * query. `node` must be given where the layout has node bits above its time, and only there.
   *
   * @throws {DecodeError} `TIME_OUT_OF_RANGE`; `NOT_TIME_ORDERED` where a clock or sequence field lies above the time.
   * @throws {ConfigError} `INVALID_NODE` or `INVALID_ARGUMENT` for a node id that is wrong, missing or not wanted.
   */
  minIdAt(time: Date | number, options: { readonly node?: NodeInput<P> } = {}): bigint {
    const { shift } = this.#time;
    const above = (span: Span | undefined) => span && span.shift > shift;
    for (const [name, span] of [["clock", this.#clock] as const, ["sequence", this.#sequence] as const]) {
      if (above(span)) {
        throw refusal(DecodeError, "NOT_TIME_ORDERED", name, this.fields, rules.NOTHING_UNORDERED);
      }
    }
    const { node } = checkKeys("INVALID_ARGUMENT", "options", options, "node");
    const tick = this.#tickAt(time);
    checkGiven("node", node, above(this.#node), rules.FIELD_ABOVE, rules.FIELD_BELOW);
    const id = node === undefined ? 0 : this.joinNode(node);
    split(0n);
    this.#time.put(tick);
    if (id) this.#node?.put(id);
    // What of the node lies below the time goes.
    return (join() >> BigInt(shift)) << BigInt(shift);
  }

  /** The largest ID whose tick contains the time. See `minIdAt`. */
  maxIdAt(time: Date | number, options?: { readonly node?: NodeInput<P> }): bigint {
    return this.minIdAt(time, options) | (2n ** BigInt(this.#time.shift) - 1n);
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
    const isNegative = typeof number === "bigint" && number < 0n && number >= -(2n ** 63n);
    return this.parse(isNegative && this.bits > 63 ? BigInt.asUintN(64, number) : number);
  }

  /** What the layout can hold: for choosing widths, and for telling when they run out. */
  plan(): Plan {
    const [time, clock, sequence] = [this.#time, this.#clock, this.#sequence];
    const dateOf = (tick: number) => new Date(this.#msOf(tick));
    const idsPerTick = (sequence.max + 1) * ((clock?.max ?? 0) + 1);
    return {
      lastDate: dateOf(time.max),
      signedUntil:
        this.bits < 64 ? dateOf(time.max) : this.fields[0]?.kind === "time" ? dateOf((time.max - 1) / 2) : undefined,
      ordered: time.shift > sequence.shift && (!clock || (time.shift > clock.shift && clock.shift > sequence.shift)),
      nodes: (this.#node?.max ?? 0) + 1,
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
    if (!this.#node) throw config("INVALID_NODE", "node", node, rules.NODE_NONE);
    if (typeof node !== "object" || node === null) {
      return checkWhole("INVALID_NODE", "node", node, 0, this.#node.max);
    }
    const names = this.#parts.map(([name]) => name);
    const given = Object.keys(node);
    if (given.length !== names.length || !names.every((name) => given.includes(name))) {
      throw config("INVALID_NODE", "node", node, `${rules.PART_NAMES}: ${names.join(", ")}`);
    }
    return this.#parts.reduce(
      (id, [name, max]) => id * (max + 1) + checkWhole("INVALID_NODE", `node.${name}`, node[name as P], 0, max),
      0,
    );
  }

  /** A node id by the names of its parts. @internal */
  splitNode(node: number): { readonly [K in P]: number } {
    let count = (this.#node as Span).max + 1;
    const parts = this.#parts.map(([name, max]) => {
      count /= max + 1;
      return [name, Math.floor(node / count) % (max + 1)];
    });
    return Object.fromEntries(parts) as { [K in P]: number };
  }

  #msOf(tick: number): number {
    return this.epochMs + tick * this.tickMs;
  }

  /** The tick that contains a time. */
  #tickAt(time: unknown): number {
    const ms = time instanceof Date ? time.getTime() : time;
    const last = this.#msOf(this.#time.max + 1) - 1;
    if (!Number.isInteger(ms) || (ms as number) < this.epochMs || (ms as number) > last) {
      throw refusal(DecodeError, "TIME_OUT_OF_RANGE", "timestampMs", time, rules.TIME_RANGE, this.epochMs, last);
    }
    return Math.floor(((ms as number) - this.epochMs) / this.tickMs);
  }
}
