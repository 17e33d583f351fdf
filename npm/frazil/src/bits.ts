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

const mask = (bits: number): number => (bits === 32 ? -1 : 2 ** bits - 1);

/** Where a number lies in an ID. */
export interface Span {
  /** The largest value that it can have. */
  readonly max: number;
  /** The lowest bit of its most significant run. */
  readonly shift: number;
  /** Its runs of bits, the most significant first: one, but for a node id whose parts lie apart. */
  readonly runs: readonly Span[];
  /** Its value in an ID given by its halves, which stand at `at` and `at + 1`. */
  of(halves: Uint32Array, at?: number): number;
}

/** A number `bits` wide, its lowest bit at `shift`. */
export function spanOf(shift: number, bits: number): Span {
  const lowBits = Math.max(0, Math.min(bits, 32 - shift));
  const lowShift = shift % 32;
  const lowMask = mask(lowBits);
  const highShift = Math.max(0, shift - 32);
  const highMask = mask(bits - lowBits);
  const scale = 2 ** lowBits;
  const span: Span = {
    max: 2 ** bits - 1,
    shift,
    runs: [],
    of: (halves, at = 0) =>
      ((((halves[at + 1 - LOW] as number) >>> highShift) & highMask) >>> 0) * scale +
      ((((halves[at + LOW] as number) >>> lowShift) & lowMask) >>> 0),
  };
  return Object.assign(span, { runs: [span] });
}

/** One number out of two, the more significant first. Runs that are neighbours become one. */
export function joined(above: Span, below: Span): Span {
  const count = below.max + 1;
  const bits = Math.log2(count);
  if (above.shift === below.shift + bits) return spanOf(below.shift, bits + Math.log2(above.max + 1));
  return {
    max: count * (above.max + 1) - 1,
    shift: above.shift,
    runs: [...above.runs, ...below.runs],
    of: (halves, at) => above.of(halves, at) * count + below.of(halves, at),
  };
}
