/** The positions of a layout's fields in an ID. */
import type { Span } from "./bits.js";

/** The parts of a node id by name. @internal */
export type NamedParts = Record<string, number>;

/**
 * The named parts of node ids that `fast.ts` keeps, and an object with the names to copy from. Once IDs of two layouts are decoded, writing
 * names one by one takes most of the time.
 *
 * @internal
 */
export interface PartsKept {
  /** An object with the names. */
  readonly none: Readonly<NamedParts>;
  /** The parts by node id, for the lower ones. Absent until used. */
  byNode: (Readonly<NamedParts> | undefined)[] | undefined;
}

/** The positions of the fields of a checked layout. @internal */
export interface Shape {
  readonly epochMs: number;
  readonly tickMs: number;
  /** The number of bits that the layout uses. */
  readonly bits: number;
  readonly maxId: bigint;
  readonly time: Span;
  readonly node: Span | undefined;
  readonly clock: Span | undefined;
  readonly sequence: Span;
  /**
   * The parts of the node id, the most significant first: name, number of values, and the factor of the part in the
   * node id.
   */
  readonly parts: readonly (readonly [name: string, count: number, below: number])[];
  /** The kept parts, only in Node and Bun. */
  readonly partsKept?: PartsKept;
}

/** The start of a tick, in Unix milliseconds. @internal */
export const msOf = ({ epochMs, tickMs }: Shape, tick: number): number => epochMs + tick * tickMs;

/** Arrays for the fields of many IDs. @internal */
export interface Arrays extends Record<"timestampMs" | "sequence", Float64Array> {
  readonly node: Uint32Array | undefined;
  readonly clock: Uint32Array | undefined;
}
