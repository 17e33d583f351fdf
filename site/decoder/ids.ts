/** The IDs in a text: one, several, or those of a log. */
import * as forms from "frazil/text";
import { decimalsIn, likelyForms, looksRounded, otherKind } from "../../npm/frazil/src/likely/texts.js";

/** An ID that was found. */
export interface Found {
  /** The ID as in the text. */
  readonly text: string;
  readonly id: bigint;
  /** Its form. */
  readonly form: string;
  /** Other possible forms of the text. */
  readonly others: readonly string[];
  readonly warnings: readonly string[];
  /** Its line. */
  readonly line: string;
}

/** A text that looked like an ID but is not one. */
export interface Refused {
  readonly text: string;
  readonly reason: string;
}

const MAX_ID = 2n ** 64n - 1n;
const TOP_BIT = 2n ** 63n;

/** Reads a text in a form of `frazil/text`: in full, or without leading zeros if it is shorter. */
function read(name: string, text: string): bigint | undefined {
  const form = forms[name as "hex" | "base62"];
  return (text.length < form.width ? form.short : form).tryDecode(text);
}

/** A word in a sentence must look like an ID: letters and digits, and the length of recent IDs. */
const looksMixed = (word: string): boolean => /\d/.test(word) && /[A-Za-z]/.test(word) && /^[\w-]{10,16}$/.test(word);

const found = (
  text: string,
  id: bigint,
  form: string,
  line: string,
  warnings: string[] = [],
  others: string[] = [],
) => ({
  text,
  id,
  form,
  others,
  warnings: warnings.filter((warning) => warning !== ""),
  line,
});

function decimal(text: string, line: string): Found | Refused {
  const digits = text.replace(/n$/, "");
  const number = BigInt(digits);
  if (number < -TOP_BIT || number > MAX_ID) return { text, reason: "It has more than 64 bits." };
  if (number < 0n)
    return found(text, number + MAX_ID + 1n, "signed", line, [
      "Negative: a signed column shows an ID of 64 bits so, or the clock was before the epoch.",
    ]);
  const rounded = looksRounded(digits)
    ? "Maybe rounded: JavaScript prints a number like this after it lost the last digits. Keep IDs as text."
    : "";
  return found(text, number, "decimal", line, [rounded]);
}

/** The meaning of a word; `undefined` if it is not an ID. `alone`: the line has no other word. */
function readWord(word: string, line: string, alone: boolean): Found | Refused | undefined {
  if (/^-?\d{1,40}n?$/.test(word) && (alone || word.length >= 15)) return decimal(word, line);
  const kind = otherKind(word);
  if (kind !== undefined) return { text: word, reason: kind };
  const [, hex] = /^0x([\da-f]{1,16})$/i.exec(word) ?? [];
  if (hex !== undefined) return found(word, BigInt(`0x${hex}`), "hex", line);
  if (!alone && !looksMixed(word)) return undefined;
  const [form, ...others] = likelyForms(/^[\dA-F]+$/.test(word) && word.length >= 15 ? word.toLowerCase() : word, read);
  if (form === undefined)
    return alone && /\d/.test(word) ? { text: word, reason: "It is no ID in any form." } : undefined;
  return found(word, read(form, word) ?? BigInt(`0x${word}`), form, line, [], others);
}

/** The most characters that are read: more would make the page slow. */
export const MAX_LENGTH = 1_000_000;

/** The start of a text that is read. It does not end within a word, whose rest could make it another ID. */
function readable(text: string): string {
  let end = MAX_LENGTH;
  if (text.length <= end) return text;
  while (end > 0 && /[\w+.-]/.test(text.charAt(end))) end--;
  return text.slice(0, end);
}

/** A word without the punctuation around it. By a loop, since a pattern for its end takes a time with the square of its length. */
function trimmed(word: string): string {
  let [start, end] = [0, word.length];
  while (start < end && "+.".includes(word.charAt(start))) start++;
  while (start < end && "+.-".includes(word.charAt(end - 1))) end--;
  return word.slice(start, end);
}

/** The IDs of a text and the refused words, in order, each once. */
export function idsIn(text: string): { found: Found[]; refused: Refused[] } {
  const [all, refused] = [new Map<string, Found>(), new Map<string, Refused>()];
  for (const line of readable(text).split("\n")) {
    const words = line.split(/[^\w+.-]+/).flatMap((word) => trimmed(word) || []);
    for (const word of words) {
      const answers = [readWord(word, line, words.length === 1)];
      // Such as `id_175928847299117063`.
      if (answers[0] === undefined) answers.push(...decimalsIn(word).map((digits) => decimal(digits, line)));
      for (const answer of answers) {
        if (answer === undefined) continue;
        if ("id" in answer) all.set(answer.text, all.get(answer.text) ?? answer);
        else refused.set(answer.text, answer);
      }
    }
  }
  return { found: [...all.values()], refused: [...refused.values()] };
}
