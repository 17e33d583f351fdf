/**
 * The 64 bits of an ID as two 32-bit halves. Shifting a `bigint` makes a new one each time; reading its halves through a
 * typed array makes none, so a field costs a few nanoseconds.
 */

const word = /* @__PURE__ */ new BigUint64Array([1n]);
const halves = /* @__PURE__ */ (() => new Uint32Array(word.buffer))();
/** Where the low half lies, which depends on the byte order of the machine; the high one is at `1 - LOW`. */
export const LOW: number = /* @__PURE__ */ (() => 1 - (halves[0] as number))();

/** The halves of an ID, for `Span.of`. Good until the next call. */
export function split(id: bigint): Uint32Array {
  word[0] = id;
  return halves;
}

/** Where a number lies in an ID. */
export interface Span {
  /** The largest value that it can have. */
  readonly max: number;
  /** Its lowest bit; of several runs, that of the most significant one. */
  readonly shift: number;
  /** Its runs of bits, the least significant first, where it has more than one. */
  readonly runs: readonly Span[] | undefined;
  /** Its value in an ID given by its halves, which stand at `at` and `at + 1`. */
  of(halves: Uint32Array, at?: number): number;
}

/** A number `bits` wide, its lowest bit at `shift`. */
export function spanOf(shift: number, bits: number): Span {
  const isHigh = shift > 31;
  // Shifts count modulo 32, so `shift` is right for the half that it begins in.
  const highShift = isHigh ? shift : 0;
  const scale = isHigh ? 1 : 2 ** Math.min(bits, 32 - shift);
  // As 32-bit integers, so that they are not made ones at each use: 2^32 - 1 becomes -1.
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

/** How two spans become one, the more significant first; that one is a single run. */
export type Join = (above: Span, below: Span) => Span;

/** Two spans with nothing between them. */
export const joinAdjacent: Join = (above, { shift, max }) => spanOf(shift, Math.log2((above.max + 1) * (max + 1)));

/** Two spans wherever they lie. */
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
