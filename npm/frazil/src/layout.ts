/**
 * Layouts: what the 64 bits of an ID mean, and everything that can be asked of an ID without a generator.
 *
 * This is the one part of the core's semantics that JavaScript has too: a crossing into native code or WebAssembly costs
 * more than taking one ID apart, and a page may forbid WebAssembly. The rules' sentences and the table of layouts are
 * generated from the core, and the vectors in `crates/core/vectors` hold both sides together.
 */
import { clear, eachHalves, join, Span, split } from "./bits.js";
import { type FrazilError, refusal } from "./errors.js";
import type { ErrorCode } from "./generated/errors.js";
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
  toJSON(): Record<string, unknown>;
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
const KINDS = ["time", "node", "clock", "sequence"];
const SPEC_KEYS = ["epochMs", "tickMs", "unsigned", "fields"];
const FIELD_KEYS = ["kind", "bits", "name"];

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const isWhole = (value: unknown, min: number, max: number): value is number =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max;

function checkWhole(code: ErrorCode, field: string, value: unknown, min: number, max: number): number {
  if (!isWhole(value, min, max)) throw refusal(code, field, value, rules.WHOLE_NUMBER, min, max);
  return value;
}

/** Refuses keys that nobody reads: a misspelt one would silently be a default. */
function checkKeys(code: ErrorCode, given: object, known: readonly string[]): void {
  for (const key of Object.keys(given)) {
    if (!known.includes(key)) throw refusal(code, key, (given as never)[key], `${rules.KNOWN_KEY}: ${known.join(", ")}`);
  }
}

const invalid = (field: string, value: unknown, template: string, min?: number, max?: number): FrazilError =>
  refusal("INVALID_LAYOUT", field, value, template, min, max);

interface Part {
  readonly name: string;
  readonly span: Span;
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

  toJSON(): Record<string, unknown> {
    const { id, timestampMs, date, node, parts, clock, sequence } = this;
    return { id: id.toString(), timestampMs, date, node, parts, clock, sequence };
  }
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
  readonly #time!: Span;
  readonly #sequence!: Span;
  readonly #clock: Span | undefined;
  /** The parts of the node id, from the most significant. */
  readonly #parts: readonly Part[];
  readonly #bits: number;
  readonly #maxId: bigint;

  /**
   * Checks a layout and makes it.
   *
   * @throws {ConfigError} `INVALID_LAYOUT` with the field, the value and the rule.
   */
  constructor(spec: LayoutSpec) {
    if (!isObject(spec)) throw invalid("layout", spec, rules.AN_OBJECT);
    checkKeys("INVALID_LAYOUT", spec, SPEC_KEYS);
    const { epochMs, tickMs = 1, unsigned = false, fields } = spec;
    if (!Array.isArray(fields)) throw invalid("fields", fields, rules.ONE_TIME);
    if (typeof unsigned !== "boolean") throw invalid("unsigned", unsigned, rules.TRUE_OR_FALSE);
    const copies = fields.map(copyField);
    const names = new Set<string>();
    for (const { kind, name = "node" } of copies) {
      if (kind !== "node") continue;
      if (names.has(name)) throw invalid("name", name, rules.DISTINCT_NAMES);
      names.add(name);
    }
    this.epochMs = checkWhole("INVALID_LAYOUT", "epochMs", epochMs, 0, Number.MAX_SAFE_INTEGER);
    this.tickMs = checkWhole("INVALID_LAYOUT", "tickMs", tickMs, 1, Number.MAX_SAFE_INTEGER);
    this.unsigned = unsigned;
    this.fields = Object.freeze(copies);
    const count = (kind: FieldKind) => copies.filter((field) => field.kind === kind).length;
    if (count("time") !== 1) throw invalid("fields", fields, rules.ONE_TIME);
    if (count("sequence") !== 1) throw invalid("fields", fields, rules.ONE_SEQUENCE);
    if (count("clock") > 1) throw invalid("fields", fields, rules.ONE_CLOCK);
    for (const { kind, bits } of copies) {
      if (kind === "sequence" && bits > 53) throw invalid("bits", bits, rules.SEQUENCE_WIDTH, 1, 53);
      if (kind === "clock" && bits > 8) throw invalid("bits", bits, rules.CLOCK_WIDTH, 1, 8);
    }
    const sum = (kind?: FieldKind) =>
      copies.reduce((bits, field) => bits + (kind === undefined || field.kind === kind ? field.bits : 0), 0);
    if (sum("node") > 32) throw invalid("fields", sum("node"), rules.NODE_WIDTH, 0, 32);
    const limit = unsigned ? 64 : 63;
    this.#bits = sum();
    if (this.#bits > limit) throw invalid("fields", this.#bits, rules.WIDTH, 0, limit);
    const parts: Part[] = [];
    let shift = this.#bits;
    for (const { kind, bits, name = "node" } of copies) {
      shift -= bits;
      const span = new Span(shift, bits);
      if (kind === "time") this.#time = span;
      else if (kind === "sequence") this.#sequence = span;
      else if (kind === "clock") this.#clock = span;
      else parts.push({ name, span });
    }
    this.#parts = parts;
    if (this.epochMs > MAX_DATE_MS || this.#time.max > Math.floor((MAX_DATE_MS - this.epochMs) / this.tickMs)) {
      throw invalid("fields", fields, rules.LAST_TICK);
    }
    this.#maxId = 2n ** BigInt(this.#bits) - 1n;
  }

  /**
   * A built-in layout.
   *
   * @throws {ConfigError} `INVALID_LAYOUT` for a name that is none of `Layout.names`.
   */
  static named<N extends LayoutName>(name: N): Layout<LayoutParts[N]> {
    const row = Object.hasOwn(LAYOUTS, name) ? LAYOUTS[name] : undefined;
    if (row === undefined) throw invalid("layout", name, `${rules.KNOWN_LAYOUT}: ${Layout.names.join(", ")}`);
    const [epochMs, tickMs, unsigned, fields] = row;
    return new Layout({
      epochMs,
      tickMs,
      unsigned: unsigned === 1,
      fields: fields.split(",").map((field) => {
        const [kind, bits, name] = field.split(" ") as [FieldKind, string, string?];
        return { kind, bits: Number(bits), ...(name && { name }) };
      }),
    });
  }

  /** A layout given in any of its forms. @internal */
  static from(input: unknown): Layout<string> {
    if (input instanceof Layout) return input;
    return typeof input === "string" ? Layout.named(input as LayoutName) : new Layout(input as LayoutSpec);
  }

  /** The names that `Layout.named` knows. */
  static get names(): readonly LayoutName[] {
    return Object.keys(LAYOUTS) as LayoutName[];
  }

  /** The same layout with some of its parts changed, such as `{ epochMs }`. */
  with(changes: Partial<LayoutSpec>): Layout<P> {
    if (!isObject(changes)) throw invalid("layout", changes, rules.AN_OBJECT);
    return new Layout({ ...this.toJSON(), ...changes });
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
    let id: bigint;
    if (typeof input === "bigint") id = input;
    else if (typeof input === "string") {
      if (!/^(0|[1-9][0-9]*)$/.test(input)) throw refusal("INVALID_ID", "id", input, rules.ID_TEXT);
      // No ID has more than 20 digits, and a long text would take long to read.
      id = input.length > 20 ? -1n : BigInt(input);
    } else if (Number.isSafeInteger(input)) id = BigInt(input);
    else throw refusal("INVALID_ID", "id", input, rules.ID_INPUT);
    if (id < 0n || id > this.#maxId) throw refusal("INVALID_ID", "id", input, rules.ID_RANGE, 0, this.#maxId);
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
    split(id);
    const timestampMs = this.epochMs + this.#time.take() * this.tickMs;
    const node = this.#parts.length === 0 ? undefined : this.#takeNode();
    return new DecodedId(this, id, timestampMs, node, this.#clock?.take(), this.#sequence.take());
  }

  /**
   * Unix milliseconds of the start of an ID's tick.
   *
   * @throws {DecodeError} `INVALID_ID` as `parse`.
   */
  timestampOf(input: IdInput): number {
    split(this.parse(input));
    return this.epochMs + this.#time.take() * this.tickMs;
  }

  /**
   * Takes many IDs apart, into a typed array for each field.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for anything but a BigUint64Array (or a BigInt64Array, up to 63 bits).
   * @throws {DecodeError} `INVALID_ID` at the first one that is not an ID of this layout.
   */
  decodeMany(ids: BigUint64Array | BigInt64Array): Columns {
    const signed = isIdArray(ids, "BigInt64Array") && this.#bits < 64;
    if (!signed && !isIdArray(ids, "BigUint64Array")) throw refusal("INVALID_ARGUMENT", "ids", ids, rules.ID_COLUMN);
    const { length } = ids;
    const timestampMs = new Float64Array(length);
    const node = this.#parts.length === 0 ? undefined : new Uint32Array(length);
    const clock = this.#clock && new Uint32Array(length);
    const sequence = new Float64Array(length);
    const unused = 64 - this.#bits;
    const beyond = unused === 0 ? undefined : new Span(this.#bits, unused);
    eachHalves(ids, (at, low, high) => {
      if (beyond !== undefined && beyond.of(low, high) !== 0) this.parse(ids[at] as bigint);
      timestampMs[at] = this.epochMs + this.#time.of(low, high) * this.tickMs;
      sequence[at] = this.#sequence.of(low, high);
      if (clock !== undefined) clock[at] = (this.#clock as Span).of(low, high);
      if (node !== undefined) {
        let joined = 0;
        for (const { span } of this.#parts) joined = joined * (span.max + 1) + span.of(low, high);
        node[at] = joined;
      }
    });
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
    if (!isObject(fields)) throw refusal("INVALID_ARGUMENT", "fields", fields, rules.AN_OBJECT);
    if (!(fields instanceof DecodedId)) checkKeys("INVALID_ARGUMENT", fields, ["timestampMs", "node", "clock", "sequence"]);
    const { timestampMs, node, clock, sequence } = fields;
    const ms = this.#ms(timestampMs);
    const tick = this.#tickAt(ms);
    if (this.epochMs + tick * this.tickMs !== ms) {
      throw refusal("INVALID_ARGUMENT", "timestampMs", timestampMs, rules.TICK_START, this.tickMs);
    }
    const hasNode = this.#parts.length !== 0;
    checkGiven("node", node, hasNode);
    checkGiven("clock", clock, this.#clock !== undefined);
    const joined = hasNode ? this.joinNode(node) : 0;
    if (this.#clock) checkWhole("INVALID_ARGUMENT", "clock", clock, 0, this.#clock.max);
    checkWhole("INVALID_ARGUMENT", "sequence", sequence, 0, this.#sequence.max);
    clear();
    this.#time.put(tick);
    this.#putNode(joined, this.#parts);
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
    return this.#rangeAt(time, options)[0];
  }

  /** The largest ID whose tick contains the time. See `minIdAt`. */
  maxIdAt(time: Date | number, options: { readonly node?: NodeInput<P> } = {}): bigint {
    return this.#rangeAt(time, options)[1];
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
    const id = typeof signed === "string" && /^-[1-9][0-9]{0,19}$/.test(signed) ? BigInt(signed) : signed;
    if (typeof id !== "bigint" || id >= 0n) return this.parse(id);
    const unsigned = BigInt.asUintN(64, id);
    if (id < -(2n ** 63n) || unsigned > this.#maxId) {
      throw refusal("INVALID_ID", "id", signed, rules.ID_RANGE, 0, this.#maxId);
    }
    return unsigned;
  }

  /** What the layout can hold: for choosing widths, and for telling when they run out. */
  plan(): Plan {
    const [top] = this.fields;
    const [time, clock, sequence] = [this.#time, this.#clock, this.#sequence];
    const dateOf = (tick: number) => new Date(this.epochMs + tick * this.tickMs);
    const signedTicks = this.#bits < 64 ? time.max : Math.floor(time.max / 2);
    const idsPerTick = 2 ** (sequence.bits + (clock?.bits ?? 0));
    return {
      lastDate: dateOf(time.max),
      signedUntil: this.#bits < 64 || top?.kind === "time" ? dateOf(signedTicks) : undefined,
      ordered:
        time.shift > sequence.shift &&
        (clock === undefined || (time.shift > clock.shift && clock.shift > sequence.shift)),
      nodes: this.#parts.reduce((nodes, { span }) => nodes * (span.max + 1), 1),
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
    const names = this.#parts.map((part) => part.name);
    if (names.length === 0) throw refusal("INVALID_NODE", "node", node, rules.NODE_NONE);
    const max = this.#parts.reduce((nodes, { span }) => nodes * (span.max + 1), 1) - 1;
    if (!isObject(node)) return checkWhole("INVALID_NODE", "node", node, 0, max);
    if (Object.keys(node).some((name) => !names.includes(name as P))) {
      throw refusal("INVALID_NODE", "node", node, `${rules.PART_NAMES}: ${names.join(", ")}`);
    }
    return this.#parts.reduce((joined, { name, span }) => {
      const value = Object.hasOwn(node, name) ? (node as Record<string, unknown>)[name] : undefined;
      if (value === undefined) throw refusal("INVALID_NODE", "node", node, `${rules.PART_NAMES}: ${names.join(", ")}`);
      return joined * (span.max + 1) + checkWhole("INVALID_NODE", `node.${name}`, value, 0, span.max);
    }, 0);
  }

  /** A node id by the names of its parts. @internal */
  splitNode(node: number): { readonly [K in P]: number } {
    let rest = node;
    const parts: Record<string, number> = {};
    for (const { name, span } of [...this.#parts].reverse()) {
      parts[name] = rest % (span.max + 1);
      rest = Math.floor(rest / (span.max + 1));
    }
    return Object.fromEntries(Object.entries(parts).reverse()) as { [K in P]: number };
  }

  #takeNode(): number {
    let node = 0;
    for (const { span } of this.#parts) node = node * (span.max + 1) + span.take();
    return node;
  }

  /** Puts those of the node's parts that are wanted. */
  #putNode(node: number, wanted: readonly Part[]): void {
    let rest = node;
    for (const part of [...this.#parts].reverse()) {
      if (wanted.includes(part)) part.span.put(rest % (part.span.max + 1));
      rest = Math.floor(rest / (part.span.max + 1));
    }
  }

  #ms(time: unknown): number {
    return time instanceof Date ? time.getTime() : (time as number);
  }

  /** The tick that contains a time. */
  #tickAt(ms: number): number {
    const end = this.epochMs + this.#time.max * this.tickMs + this.tickMs - 1;
    if (!isWhole(ms, this.epochMs, end)) {
      throw refusal("TIME_OUT_OF_RANGE", "timestampMs", ms, rules.TIME_RANGE, this.epochMs, end);
    }
    return Math.floor((ms - this.epochMs) / this.tickMs);
  }

  #rangeAt(time: unknown, options: { readonly node?: NodeInput<P> }): [bigint, bigint] {
    const above = (span: Span | undefined) => span !== undefined && span.shift > this.#time.shift;
    for (const [name, span] of [["clock", this.#clock] as const, ["sequence", this.#sequence] as const]) {
      if (above(span)) throw refusal("NOT_TIME_ORDERED", name, this.fields, rules.NOTHING_UNORDERED);
    }
    if (!isObject(options)) throw refusal("INVALID_ARGUMENT", "options", options, rules.AN_OBJECT);
    checkKeys("INVALID_ARGUMENT", options, ["node"]);
    const tick = this.#tickAt(this.#ms(time));
    const { node } = options;
    const prefix = this.#parts.filter(({ span }) => above(span));
    if ((node === undefined) === prefix.length > 0) {
      throw refusal("INVALID_ARGUMENT", "node", node, node === undefined ? rules.FIELD_ABOVE : rules.FIELD_BELOW);
    }
    clear();
    this.#time.put(tick);
    if (node !== undefined) {
      const joined = this.joinNode(node);
      this.#putNode(joined, prefix);
    }
    const first = join();
    return [first, first | (2n ** BigInt(this.#time.shift) - 1n)];
  }
}

/** A field as it is kept, with nothing in it that nobody reads. */
function copyField(field: unknown): LayoutField {
  if (!isObject(field)) throw invalid("fields", field, rules.AN_OBJECT);
  checkKeys("INVALID_LAYOUT", field, FIELD_KEYS);
  const { kind, bits, name } = field;
  if (!KINDS.includes(kind as string)) throw invalid("kind", kind, rules.KNOWN_KIND);
  checkWhole("INVALID_LAYOUT", "bits", bits, 1, 64);
  if (name !== undefined) {
    if (kind !== "node") throw invalid("name", name, rules.NAME_ONLY_NODE);
    if (typeof name !== "string" || !/^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(name)) {
      throw invalid("name", name, rules.NAME_SYNTAX);
    }
  }
  return Object.freeze({ kind, bits, ...(name !== undefined && { name }) }) as LayoutField;
}

/** A field is given exactly where the layout has it. */
function checkGiven(field: string, value: unknown, has: boolean): void {
  if ((value !== undefined) === has) return;
  throw refusal("INVALID_ARGUMENT", field, value, has ? rules.FIELD_MISSING : rules.FIELD_ABSENT);
}

/** Reads what kind of typed array a value is: `undefined` for anything else, and not to be deceived by a property. */
const kindOf = /* @__PURE__ */ (() =>
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get)() as () => string | undefined;

/** Whether a value is a typed array of that name, of whichever realm. */
export function isIdArray(value: unknown, name: "BigUint64Array" | "BigInt64Array"): boolean {
  return kindOf.call(value) === name;
}
