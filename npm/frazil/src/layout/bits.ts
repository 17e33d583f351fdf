/**
 * The 64 bits of an ID as two 32-bit halves. Shifting a `bigint` allocates a new one each time. Reading its halves
 * through a typed array allocates nothing, so a field costs a few nanoseconds.
 */

/** Scratch memory for one ID. No user code runs between writing and reading it. @internal */
export const word = /* @__PURE__ */ new BigUint64Array([1n]);
/** The halves of `word`. @internal */
export const halves = /* @__PURE__ */ (() => new Uint32Array(word.buffer))();
/** The index of the low half, which depends on the byte order of the machine. The high half is at `1 - LOW`. @internal */
export const LOW: number = /* @__PURE__ */ (() => 1 - (halves[0] as number))();

/** The halves of an ID, for `Span.of`. Valid until the next call. */
export function split(id: bigint): Uint32Array {
  word[0] = id;
  return halves;
}

/** The bits of an ID that hold a number. */
export interface Span {
  /** The largest value of the number. */
  readonly max: number;
  /** The position of the lowest bit. With several runs: of the most significant run. */
  readonly shift: number;
  /** The runs of adjacent bits, the least significant first, if there is more than one. */
  readonly runs: readonly Span[] | undefined;
  /** The number in an ID. `halves` has the halves of the ID at `at` and `at + 1`. */
  of(halves: Uint32Array, at?: number): number;
}

/** The span of a number of `bits` bits, with its lowest bit at `shift`. */
export function spanOf(shift: number, bits: number): Span {
  const isHigh = shift > 31;
  // Shifts are modulo 32, so `shift` is correct for the half in which the span begins.
  const highShift = isHigh ? shift : 0;
  const scale = isHigh ? 1 : 2 ** Math.min(bits, 32 - shift);
  // Converted to a 32-bit integer once instead of at each use: 2^32 - 1 becomes -1.
  const lowMask = (scale - 1) | 0;
  const highMask = (2 ** bits / scale - 1) | 0;
  return {
    max: 2 ** bits - 1,
    shift,
    runs: undefined,
    of: (halves, at = 0) =>
      ((((halves[at + 1 - LOW] as number) >>> highShift) & highMask) >>> 0) * scale +
      ((((halves[at + LOW] as number) >>> shift) & lowMask) >>> 0),
  };
}

/** Joins two spans, the more significant one first. That one is a single run. */
export type Join = (above: Span, below: Span) => Span;

/** Joins two spans with no bits between them. */
export const joinAdjacent: Join = (above, { shift, max }) => spanOf(shift, Math.log2((above.max + 1) * (max + 1)));

/** Joins two spans at any positions. */
export const joinAnywhere: Join = (above, below) => {
  const count = below.max + 1;
  if (!below.runs && above.shift === below.shift + Math.log2(count)) return joinAdjacent(above, below);
  return {
    max: count * (above.max + 1) - 1,
    shift: above.shift,
    runs: [...(below.runs ?? [below]), above],
    of: (halves, at) => above.of(halves, at) * count + below.of(halves, at),
  };
};
