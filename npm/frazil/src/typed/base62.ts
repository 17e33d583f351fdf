/**
 * Base 62 as in `frazil/text`, in a fraction of its size and at a fraction of its speed: a page that shows a few IDs downloads only this.
 * `tests-js/typed/forms.test.mjs` tests that both agree.
 */
/** How a typed ID is written and read after its prefix. @internal */
export interface Codec {
  encode(id: bigint): string;
  decode(text: string): bigint;
}

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 62 ** 6. Both parts of an ID are exact as numbers: 62^6 is less than 2^36, and so is 2^64 / 62^6. */
const UNIT = 56_800_235_584n;

const textOf = (part: number, count: number): string =>
  count > 0 ? textOf(Math.floor(part / 62), count - 1) + DIGITS[part % 62] : "";

const partOf = (text: string): bigint => {
  let part = 0;
  for (const digit of text) part = part * 62 + DIGITS.indexOf(digit);
  return BigInt(part);
};

/** For a text with other digits, `decode` returns an ID with another text. @internal */
export const base62 = {
  alphabet: "0-9A-Za-z",
  width: 11,
  encode: (id: bigint): string => textOf(Number(id / UNIT), 5) + textOf(Number(id % UNIT), 6),
  decode: (text: string): bigint => partOf(text.slice(0, 5)) * UNIT + partOf(text.slice(5)),
};
