/** 128 bits that cross the boundary as four numbers of 32 bits, and are 32 hexadecimal digits for the store. */

const hex = (word: number) => word.toString(16).padStart(8, "0");

/** Four numbers from `at` on as digits. */
export const digitsAt = (numbers: ArrayLike<number>, at: number): string =>
  [0, 1, 2, 3].map((word) => hex(numbers[at + word] as number)).join("");

/** Writes digits as four numbers from `at` on. */
export function writeDigits(numbers: Float64Array, at: number, digits: string): void {
  for (let word = 0; word < 4; word++) numbers[at + word] = Number.parseInt(digits.slice(8 * word, 8 * word + 8), 16);
}
