/**
 * The digits of an ID in a base: as a string, and as bytes in the caller's array. The arithmetic is on numbers, because divisions of
 * `bigint`s take several times as long. Measurements: docs/reference/benchmarks.md, "Text".
 */
import { bufferOf, lengthOf, offsetOf, repeat } from "../base/arrays.js";
import { halves, LOW, word } from "../layout/bits.js";

const TWO_32 = 0x1_0000_0000;
/** The second result of `split`. */
const kept = /* @__PURE__ */ new Int32Array(1);
/** A run of up to this many IDs is written one by one. */
const SHORT_RUN = 8;
/** A longer run is written in pieces, so that copied bytes stay in the first-level cache until they are changed. */
const LONG_RUN = 512;

/** The digits of IDs in a base. @internal */
export interface Digits {
  /** The number of digits of an ID. */
  readonly width: number;
  /** The text of an ID. */
  readonly text: (id: bigint) => string;
  /** Writes the texts of IDs, one after another, to the start of an array with enough room, in other memory. */
  readonly textsInto: (ids: BigUint64Array, bytes: Uint8Array) => void;
  /** The number of digits in `rest` of `join`. The digits before them are in `top`. */
  readonly restWidth: number;
  /** The ID with these numbers as its digits, or `undefined` if it is too large. */
  readonly join: (top: number, rest: number) => bigint | undefined;
}

/**
 * Constants of a base, in an array, because a function reads fractions from there faster than from outer variables. An ID is
 * `top * UNIT + rest`. `rest` times the scale is `middle * HALF_UNIT + last`.
 */
enum Of {
  /** At most 2^52. */
  UNIT = 0,
  UNIT_HIGH = 1,
  UNIT_LOW = 2,
  SCALE = 3,
  HALF_UNIT = 4,
  /** The digits of each half of `rest`. */
  HALF_WIDTH = 5,
  /** The square of the base: the number of pairs of digits. */
  SQUARE = 6,
  /** A little more than its inverse, so that a product with a whole number below 2^31 is never less than the exact quotient. */
  INVERSE = 7,
  UNIT_INVERSE = 8,
}

/** Sets `kept[0]` to `top`, which is less than 2^19, and returns `rest` times the scale. */
function split(high: number, low: number, of: Float64Array): number {
  const unit = of[Of.UNIT] as number;
  // A number cannot hold every ID exactly, so this quotient can be off by one. Everything else stays within 2^53.
  let top = Math.floor((high * TWO_32 + low) * (of[Of.UNIT_INVERSE] as number));
  let rest = (high - top * (of[Of.UNIT_HIGH] as number)) * TWO_32 + (low - top * (of[Of.UNIT_LOW] as number));
  if (rest < 0) {
    top--;
    rest += unit;
  } else if (rest >= unit) {
    top++;
    rest -= unit;
  }
  kept[0] = top;
  return rest * (of[Of.SCALE] as number);
}

/** The text of an ID in parts of 3, 4 and 4 digits, or 3, 5 and 5. */
function textOfParts(high: number, low: number, of: Float64Array, pairs: Uint16Array): string {
  const rest = split(high, low, of);
  const halfUnit = of[Of.HALF_UNIT] as number;
  const square = (of[Of.SQUARE] as number) | 0;
  const inverse = of[Of.INVERSE] as number;
  const top = kept[0] as number;
  const middle = Math.floor(rest / halfUnit) | 0;
  const last = (rest - middle * halfUnit) | 0;
  const a = (top * inverse) | 0;
  const b = pairs[top - Math.imul(a, square)] as number;
  const c = (middle * inverse) | 0;
  const d = pairs[middle - Math.imul(c, square)] as number;
  const e = (last * inverse) | 0;
  const f = pairs[last - Math.imul(e, square)] as number;
  // With listed arguments, the call takes a third of the time of one with a spread array. The pair of a single digit is a zero and the
  // digit.
  if (of[Of.HALF_WIDTH] === 4) {
    const g = pairs[c] as number;
    const h = pairs[e] as number;
    // biome-ignore format: a row is a part.
    return String.fromCharCode(
      (pairs[a] as number) & 255, b >>> 8, b & 255,
      g >>> 8, g & 255, d >>> 8, d & 255,
      h >>> 8, h & 255, f >>> 8, f & 255,
    );
  }
  const x = (c * inverse) | 0;
  const y = (e * inverse) | 0;
  const g = pairs[c - Math.imul(x, square)] as number;
  const h = pairs[e - Math.imul(y, square)] as number;
  // biome-ignore format: a row is a part.
  return String.fromCharCode(
    (pairs[a] as number) & 255, b >>> 8, b & 255,
    (pairs[x] as number) & 255, g >>> 8, g & 255, d >>> 8, d & 255,
    (pairs[y] as number) & 255, h >>> 8, h & 255, f >>> 8, f & 255,
  );
}

/** The text of an ID in base 16, where each pair of digits is a byte. */
function textOfBytes(high: number, low: number, pairs: Uint16Array): string {
  const a = pairs[high >>> 24] as number;
  const b = pairs[(high >>> 16) & 255] as number;
  const c = pairs[(high >>> 8) & 255] as number;
  const d = pairs[high & 255] as number;
  const e = pairs[low >>> 24] as number;
  const f = pairs[(low >>> 16) & 255] as number;
  const g = pairs[(low >>> 8) & 255] as number;
  const h = pairs[low & 255] as number;
  // biome-ignore format: a row is a half.
  return String.fromCharCode(
    a >>> 8, a & 255, b >>> 8, b & 255, c >>> 8, c & 255, d >>> 8, d & 255,
    e >>> 8, e & 255, f >>> 8, f & 255, g >>> 8, g & 255, h >>> 8, h & 255,
  );
}

/** The text of an ID in base 32, where each pair of digits is ten bits. The first digit has four. */
function textOfTens(high: number, low: number, pairs: Uint16Array): string {
  const a = pairs[(high >>> 18) & 1023] as number;
  const b = pairs[(high >>> 8) & 1023] as number;
  const c = pairs[((high << 2) & 1020) | (low >>> 30)] as number;
  const d = pairs[(low >>> 20) & 1023] as number;
  const e = pairs[(low >>> 10) & 1023] as number;
  const f = pairs[low & 1023] as number;
  // biome-ignore format: a row has the digits of 30 bits.
  return String.fromCharCode(
    (pairs[high >>> 28] as number) & 255,
    a >>> 8, a & 255, b >>> 8, b & 255, c >>> 8, c & 255,
    d >>> 8, d & 255, e >>> 8, e & 255, f >>> 8, f & 255,
  );
}

/** Writes a part of 3, 4 or 5 digits. Returns the number that the last two represent. */
function writePart(
  part: number,
  width: number,
  of: Float64Array,
  pairs: Uint16Array,
  view: DataView,
  at: number,
): number {
  const square = (of[Of.SQUARE] as number) | 0;
  const inverse = of[Of.INVERSE] as number;
  const above = (part * inverse) | 0;
  const last = part - Math.imul(above, square);
  view.setUint16(at + width - 2, pairs[last] as number);
  if (width === 3) view.setUint8(at, pairs[above] as number);
  else if (width === 4) view.setUint16(at, pairs[above] as number);
  else {
    const first = (above * inverse) | 0;
    view.setUint8(at, pairs[first] as number);
    view.setUint16(at + 1, pairs[above - Math.imul(first, square)] as number);
  }
  return last;
}

/** Writes the parts of an ID. Returns the number that the last two digits represent. */
function writeParts(
  high: number,
  low: number,
  of: Float64Array,
  pairs: Uint16Array,
  view: DataView,
  at: number,
): number {
  const rest = split(high, low, of);
  const halfUnit = of[Of.HALF_UNIT] as number;
  const halfWidth = (of[Of.HALF_WIDTH] as number) | 0;
  const middle = Math.floor(rest / halfUnit) | 0;
  writePart(kept[0] as number, 3, of, pairs, view, at);
  writePart(middle, halfWidth, of, pairs, view, at + 3);
  return writePart((rest - middle * halfUnit) | 0, halfWidth, of, pairs, view, at + 3 + halfWidth);
}

/** Writes the last two digits of the IDs from one index to another, whose lower halves begin at `start`. */
function writeRun(
  words: Uint32Array,
  from: number,
  end: number,
  start: number,
  scale: number,
  pairs: Uint16Array,
  view: DataView,
  at: number,
  width: number,
): void {
  for (let index = from; index < end; index += 2, at += width)
    view.setUint16(at, pairs[Math.imul(((words[index] as number) | 0) - start, scale)] as number);
}

/** The end of the run that begins at `index`: its IDs have the same upper half, and lower halves from `start` to below `start + count`. */
function endOfRun(words: Uint32Array, index: number, start: number, count: number): number {
  // If the last two digits belong to both halves, there is no run.
  if (start < 0 || start + count > TWO_32) return index + 2;
  const first = start | 0;
  const high = (words[index + 1 - LOW] as number) | 0;
  const last = Math.min(words.length, index + 2 * LONG_RUN);
  let end = index + 2;
  for (; end < last && ((words[end + 1 - LOW] as number) | 0) === high; end += 2) {
    const next = ((words[end + LOW] as number) | 0) - first;
    if (next >>> 0 >= count) break;
  }
  return end;
}

/** The digits of an alphabet. The number that they represent is `scale` times the ID. @internal */
export function digitsOf(alphabet: string, scale: 1 | 4): Digits {
  const base = alphabet.length;
  const square = base * base;
  const width = Math.ceil((64 + Math.log2(scale)) / Math.log2(base));
  let [unit, restWidth] = [1 / scale, 0];
  for (; unit * scale * base <= 2 ** 52; restWidth++) unit *= base;
  const topWidth = width - restWidth;
  // In the bases 31 to 36 and 57 to 84, the parts have 3, 5 and 5 or 3, 4 and 4 digits, and are written in pairs. In other bases, digits
  // are written one by one.
  const halfWidth = topWidth === 3 && (restWidth === 8 || restWidth === 10) ? restWidth / 2 : 0;
  /** Whether the digits are bits of the ID. */
  const isBits = scale === 1 && (base === 16 || base === 32);
  const [unitHigh, unitLow] = [Math.floor(unit / TWO_32), unit % TWO_32];
  const of = Float64Array.of(
    unit,
    unitHigh,
    unitLow,
    scale,
    base ** halfWidth,
    halfWidth,
    square,
    (1 + 2 ** -50) / square,
    1 / unit,
  );
  /** Each pair of digits as two bytes. Made by the first call, because a program uses few forms. */
  let pairs: Uint16Array | undefined;
  const pairsOf = (): Uint16Array => {
    const pair = (_: unknown, at: number) => (alphabet.charCodeAt(at / base) << 8) | alphabet.charCodeAt(at % base);
    pairs = Uint16Array.from({ length: square }, pair);
    return pairs;
  };

  /** Calls `digit` with each digit from the last one to the first. Returns the number that the last two represent. */
  const eachDigit = (high: number, low: number, digit: (value: number, at: number) => void): number => {
    let rest = split(high, low, of);
    const last = rest - Math.floor(rest / square) * square;
    for (let at = width; at-- > 0; ) {
      if (at === topWidth - 1) rest = kept[0] as number;
      const above = Math.floor(rest / base);
      digit(rest - above * base, at);
      rest = above;
    }
    return last;
  };

  return {
    width,
    // A separate function for each case: with all in one, the text of base 62 takes a twentieth longer.
    text: isBits
      ? (id) => {
          word[0] = id;
          const write = base === 16 ? textOfBytes : textOfTens;
          return write(halves[1 - LOW] as number, halves[LOW] as number, pairs ?? pairsOf());
        }
      : halfWidth > 0
        ? (id) => {
            word[0] = id;
            return textOfParts(halves[1 - LOW] as number, halves[LOW] as number, of, pairs ?? pairsOf());
          }
        : (id) => {
            word[0] = id;
            let text = "";
            eachDigit(halves[1 - LOW] as number, halves[LOW] as number, (value) => {
              text = alphabet[value] + text;
            });
            return text;
          },
    textsInto(ids, into) {
      const table = pairs ?? pairsOf();
      const words = new Uint32Array(bufferOf(ids), offsetOf(ids), 2 * lengthOf(ids));
      const { length } = words;
      // Always a plain Uint8Array, so that the engine compiles one kind of store.
      const bytes = new Uint8Array(bufferOf(into), offsetOf(into), (length / 2) * width);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (halfWidth === 0) {
        for (let index = 0, at = 0; index < length; index += 2, at += width)
          eachDigit(words[index + 1 - LOW] as number, words[index + LOW] as number, (value, digit) =>
            view.setUint8(at + digit, alphabet.charCodeAt(value)),
          );
        return;
      }
      // IDs that were minted together often differ only in the last two digits. In such a run the others are copied.
      let end = 0;
      for (let index = 0, at = 0; index < length; ) {
        const low = words[index + LOW] as number;
        const pair = writeParts(words[index + 1 - LOW] as number, low, of, table, view, at);
        const next = at + width;
        if (index >= end) {
          const start = low - pair / scale;
          end = endOfRun(words, index, start, square / scale);
          if (end - index > 2 * SHORT_RUN) {
            const until = at + ((end - index) / 2) * width;
            repeat(bytes, at, next, until);
            writeRun(words, index + LOW, end, start | 0, scale, table, view, next - 2, width);
            at = until;
            index = end;
            continue;
          }
        }
        index += 2;
        at = next;
      }
    },
    restWidth,
    join(top, rest) {
      const number = rest / scale;
      const low = top * unitLow + (number % TWO_32);
      const high = top * unitHigh + Math.floor(number / TWO_32) + Math.floor(low / TWO_32);
      if (high >= TWO_32) return undefined;
      halves[1 - LOW] = high;
      halves[LOW] = low; // modulo 2^32
      return word[0];
    },
  };
}
