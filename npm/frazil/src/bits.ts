/**
 * The 64 bits of an ID as two 32-bit halves. Shifting a `bigint` makes a new one each time; reading its halves through a
 * typed array makes none, so a field costs a few nanoseconds.
 */

const word = /* @__PURE__ */ new BigUint64Array(1);
const halves = /* @__PURE__ */ new Uint32Array(/* @__PURE__ */ (() => word.buffer)());
/** The index of the low half, which depends on the byte order of the machine; the high half is at `1 - LOW`. */
const LOW = /* @__PURE__ */ (() => {
  word[0] = 1n;
  return halves[0] === 1 ? 0 : 1;
})();

/** Puts an ID into the halves, for `Span.take` to read. */
export function split(id: bigint): void {
  word[0] = id;
}

/** Empties the halves, for `Span.put` to fill. */
export function clear(): void {
  word[0] = 0n;
}

/** The ID that the halves hold. */
export function join(): bigint {
  return word[0] as bigint;
}

const maskOf = (bits: number): number => (bits === 32 ? -1 : 2 ** bits - 1);

/** Where a field lies: `bits` wide, its lowest bit at `shift`. */
export class Span {
  /** The largest value the field holds; exact, since no field but a masked one is wider than 53 bits. */
  readonly max: number;
  readonly #lowShift: number;
  readonly #lowMask: number;
  readonly #highShift: number;
  readonly #highMask: number;
  readonly #scale: number;

  constructor(
    readonly shift: number,
    readonly bits: number,
  ) {
    const low = Math.max(0, Math.min(bits, 32 - shift));
    this.max = 2 ** bits - 1;
    this.#lowShift = shift % 32;
    this.#lowMask = maskOf(low);
    this.#highShift = Math.max(0, shift - 32);
    this.#highMask = maskOf(bits - low);
    this.#scale = 2 ** low;
  }

  /** The field of an ID given by its halves. */
  of(low: number, high: number): number {
    return (
      (((high >>> this.#highShift) & this.#highMask) >>> 0) * this.#scale +
      (((low >>> this.#lowShift) & this.#lowMask) >>> 0)
    );
  }

  /** The field of the ID that was split. */
  take(): number {
    return this.of(halves[LOW] as number, halves[1 - LOW] as number);
  }

  /** Puts a value that fits into the halves. */
  put(value: number): void {
    const low = value % this.#scale;
    halves[LOW] = (halves[LOW] as number) | (low << this.#lowShift);
    halves[1 - LOW] = (halves[1 - LOW] as number) | (((value - low) / this.#scale) << this.#highShift);
  }
}

/** Calls back with the halves of each ID of an array. */
export function eachHalves(ids: BigUint64Array | BigInt64Array, visit: (at: number, low: number, high: number) => void) {
  const words = new Uint32Array(ids.buffer, ids.byteOffset, ids.length * 2);
  for (let at = 0; at < ids.length; at++) visit(at, words[2 * at + LOW] as number, words[2 * at + 1 - LOW] as number);
}
