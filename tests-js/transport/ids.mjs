// What the calls of `frazil/transport` are given: IDs, and what no call accepts as one.
export const ID = 1489237498237411329n;
export const LARGEST = 2n ** 64n - 1n;
export const SIGNED = 2n ** 63n - 1n;

/** What no call accepts as an ID. */
export const NO_IDS = [
  [Number(ID), /\nJSON\.parse rounds larger numbers, so keep IDs as text\. In SQL: CAST\(id AS TEXT\)\.$/],
  [2 ** 53, /\nJSON\.parse rounds larger numbers, so keep IDs as text\. In SQL: CAST\(id AS TEXT\)\.$/],
  [-(2 ** 53), /\nJSON\.parse rounds larger numbers, so keep IDs as text\. In SQL: CAST\(id AS TEXT\)\.$/],
  [1.5, /number below 2\^53$/],
  [Number.NaN, /number below 2\^53$/],
  [Number.POSITIVE_INFINITY, /number below 2\^53$/],
  [-1, /^must be an ID from 0 to \d+$/],
  [-1n, /^must be an ID from 0 to \d+$/],
  [2n ** 64n, /^must be an ID from 0 to \d+$/],
  ["", /^must be decimal digits/],
  ["01", /^must be decimal digits/],
  ["+1", /^must be decimal digits/],
  ["-1", /^must be decimal digits/],
  [" 1", /^must be decimal digits/],
  ["1\n", /^must be decimal digits/],
  ["0x10", /^must be decimal digits/],
  ["1e3", /^must be decimal digits/],
  ["1 OR 1", /^must be decimal digits/],
  ["9.22337203685478e+18", /^must be decimal digits/],
  ["9".repeat(1_000_000), /^must be an ID from 0 to \d+$/],
  [true, /^must be a bigint/],
  [undefined, /^must be a bigint/],
  [{}, /^must be a bigint/],
  [{ valueOf: () => 1 }, /^must be a bigint/],
  [[1n], /^must be a bigint/],
  [Object(1n), /^must be a bigint/],
  [Symbol.iterator, /^must be a bigint/],
];

/** What is accepted, and the ID that it is. */
export const IDS = [
  [0n, 0n],
  ["0", 0n],
  [0, 0n],
  [-0, 0n],
  [2 ** 53 - 1, 2n ** 53n - 1n],
  [ID, ID],
  [`${ID}`, ID],
  [SIGNED, SIGNED],
  [`${SIGNED}`, SIGNED],
];
