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

/** The ID that the halves hold. */
export const join = (): bigint => word[0] as bigint;

const mask = (bits: number): number => (bits === 32 ? -1 : 2 ** bits - 1);

/** Where a number lies in an ID. */
export interface Span {
  /** The largest value that it can have. */
  readonly max: number;
  /** Its lowest bit. */
  readonly shift: number;
  /** Its value in an ID given by its halves, which stand at `at` and `at + 1`. */
  of(halves: Uint32Array, at?: number): number;
  /** Puts a value that fits into the halves of the ID that was split. */
  put(value: number): void;
}

/** A number `bits` wide, its lowest bit at `shift`. */
export function spanOf(shift: number, bits: number): Span {
  const lowBits = Math.max(0, Math.min(bits, 32 - shift));
  const lowShift = shift % 32;
  const lowMask = mask(lowBits);
  const highShift = Math.max(0, shift - 32);
  const highMask = mask(bits - lowBits);
  const scale = 2 ** lowBits;
  return {
    max: 2 ** bits - 1,
    shift,
    of: (halves, at = 0) =>
      ((((halves[at + 1 - LOW] as number) >>> highShift) & highMask) >>> 0) * scale +
      ((((halves[at + LOW] as number) >>> lowShift) & lowMask) >>> 0),
    put: (value) => {
      const low = value % scale;
      (halves[LOW] as number) |= low << lowShift;
      (halves[1 - LOW] as number) |= ((value - low) / scale) << highShift;
    },
  };
}

/** One number out of several places, the most significant first. */
export function joined(spans: readonly Span[]): Span {
  return {
    max: spans.reduce((count, { max }) => count * (max + 1), 1) - 1,
    shift: Math.max(...spans.map(({ shift }) => shift)),
    of: (halves, at) => spans.reduce((value, span) => value * (span.max + 1) + span.of(halves, at), 0),
    put: (value) => {
      spans.reduceRight((rest, { max, put }) => {
        put(rest % (max + 1));
        return Math.floor(rest / (max + 1));
      }, value);
    },
  };
}
