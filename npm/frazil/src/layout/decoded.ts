/**
 * A decoded ID. In a separate file, because no bundler removes an unused class that has a method named by a symbol.
 */
import { Decoding, isIdOf, partsOf } from "#decoding";
import { INSPECT } from "../base/printing.js";
import { split } from "./bits.js";
import { type IdInput, parseId } from "./id.js";
import { msOf, type Shape } from "./shape.js";

/** The parts of a node id by name. */
export type NodeParts<P extends string = string> = { readonly [K in P]: number };

/**
 * A decoded ID. Its fields are own properties, so a copy such as `{ ...decoded, sequence: 8 }` has them. `date` and
 * `parts` are getters, so a copy has neither.
 */
export class Decoded<P extends string = string> {
  readonly #shape: Shape;
  // `declare`, because the constructor assigns them. Without it every bundle would define each field twice.
  /** The ID. */
  declare readonly id: bigint;
  /** The start of its tick, in Unix milliseconds. */
  declare readonly timestampMs: number;
  /** The node id, with its parts joined; `undefined` if the layout has no node field. */
  declare readonly node: number | undefined;
  /** The clock id; `undefined` if the layout has no clock field. */
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

  /** The parts of the node id by name, in a frozen object; `undefined` if the layout has no node field. */
  get parts(): NodeParts<P> | undefined {
    const { node } = this;
    if (Decoding.FAST && node !== undefined) return partsOf(this.#shape, node) as NodeParts<P>;
    return node === undefined
      ? node
      : Object.freeze(
          Object.fromEntries(
            this.#shape.parts.map(([name, count, below]) => [name, Math.floor(node / below) % count]),
          ) as NodeParts<P>,
        );
  }

  /** All fields, with the ID as text because JSON has no bigint. */
  toJSON(): object {
    return { ...this[INSPECT](), id: `${this.id}` };
  }

  /** @internal */
  [INSPECT](): object {
    // A Proxy, or an object that inherits from a decoded ID, has no private field and is printed as it is.
    return #shape in this ? { ...this, date: this.date, parts: this.parts } : { ...(this as object) };
  }
}

/** Decodes an ID. @internal */
export function decodeId<P extends string>(shape: Shape, input: IdInput): Decoded<P> {
  const id = Decoding.FAST && isIdOf(shape, input) ? input : parseId(shape, input);
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
