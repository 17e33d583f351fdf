/** An ID taken apart. A file of its own, since no bundler drops a class whose method has a symbol for its name. */
import { split } from "./bits.js";
import { type IdInput, msOf, parseId, type Shape } from "./id.js";

/** Has Node print an object as another one. */
const INSPECT: unique symbol = /* @__PURE__ */ Symbol.for("nodejs.util.inspect.custom") as never;

/**
 * An ID taken apart. Its fields are its own, so a copy (`{ ...decoded, sequence: 8 }`) has them; `date` and `parts` are made
 * when they are asked for, and a copy has neither.
 */
export class Decoded<P extends string = string> {
  readonly #shape: Shape;
  // Declared, since the constructor assigns them: a definition would be a second one, in every bundle.
  /** The ID. */
  declare readonly id: bigint;
  /** Unix milliseconds of the start of its tick. */
  declare readonly timestampMs: number;
  /** The node id, its parts joined; `undefined` where the layout has none. */
  declare readonly node: number | undefined;
  /** The clock id; `undefined` where the layout has none. */
  declare readonly clock: number | undefined;
  /** The number of the ID within its tick. */
  declare readonly sequence: number;

  /** @internal */
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

  /** `timestampMs` as a `Date`. */
  get date(): Date {
    return new Date(this.timestampMs);
  }

  /** The node id by the names of its parts; `undefined` where the layout has none. */
  get parts(): { readonly [K in P]: number } | undefined {
    const { node } = this;
    if (node === undefined) return undefined;
    const parts = this.#shape.parts.map(([name, count, below]) => [name, Math.floor(node / below) % count]);
    return Object.fromEntries(parts) as { [K in P]: number };
  }

  /** All of it with the ID as text, since JSON has no bigint. */
  toJSON(): object {
    return { ...this[INSPECT](), id: `${this.id}` };
  }

  /** @internal */
  [INSPECT](): object {
    return { ...this, date: this.date, parts: this.parts };
  }
}

/** Takes an ID apart. @internal */
export function decodeId<P extends string>(shape: Shape, input: IdInput): Decoded<P> {
  const id = parseId(shape, input);
  const halves = split(id);
  const { time, node, clock, sequence } = shape;
  return new Decoded<P>(
    shape,
    id,
    msOf(shape, time.of(halves)),
    node?.of(halves),
    clock?.of(halves),
    sequence.of(halves),
  );
}
