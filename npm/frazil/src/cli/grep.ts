/** `npx frazil decode --grep`: standard input as it is, with the fields after each ID. */
import type { Layout } from "frazil";
import { wallClock } from "../base/clock.js";
import { whyNot } from "../likely/layouts.js";
import { print } from "./output.js";

/** No ID has more digits. */
const MAX_DIGITS = 20;
/** A longer word at the end of a piece is passed on without a look at its end. */
const MAX_WORD = 64;
const DAY_MS = 86_400_000;

/** A text with the fields after each ID: a number in digits alone, whose time in the layout is as likely as `decode` asks. */
function annotation(layout: Layout, fieldsOf: (id: bigint) => string): (text: string) => string {
  const nowMs = wallClock();
  // The smallest ID after the first day of the epoch, unless a field lies above the time.
  const isOrdered = layout.fields[0]?.kind === "time";
  const digits = isOrdered
    ? `${layout.minIdAt(Math.min(layout.epochMs + DAY_MS, Number(layout.plan().lastDate)))}`.length
    : 1;
  // Not in a word, after a minus sign or in a fraction.
  const numbers = new RegExp(`(?<!\\w|\\d\\.|(?<!\\w)-)[1-9]\\d{${digits - 1},${MAX_DIGITS - 1}}(?!\\w|\\.\\d)`, "g");
  return (text) =>
    text.replace(numbers, (number) => {
      const id = layout.tryParse(number);
      return id === undefined || whyNot(layout, id, nowMs) !== undefined ? number : `${number} [${fieldsOf(id)}]`;
    });
}

const IN_WORD = /[\w.-]/;

/** Where the last word of a text begins, as far as digits in it may depend on what follows. */
function lastWord(text: string): number {
  let at = text.length;
  while (at > 0 && IN_WORD.test(text[at - 1] as string)) at--;
  return at;
}

/** Copies standard input to standard output. Bytes stay as they are, in any encoding that has ASCII. */
export async function annotate(layout: Layout, fieldsOf: (id: bigint) => string): Promise<void> {
  const annotated = annotation(layout, fieldsOf);
  const pass = (text: string) => print(Buffer.from(text, "latin1"));
  process.stdin.setEncoding("latin1");
  let rest = "";
  let isInLongWord = false;
  for await (const piece of process.stdin as AsyncIterable<string>) {
    let text = rest + piece;
    rest = "";
    if (isInLongWord) {
      const end = text.search(/[^\w.-]/);
      await pass(end < 0 ? text : text.slice(0, end));
      if (end < 0) continue;
      text = text.slice(end);
    }
    const at = lastWord(text);
    isInLongWord = text.length - at > MAX_WORD;
    await pass(annotated(text.slice(0, at)) + (isInLongWord ? text.slice(at) : ""));
    if (!isInLongWord) rest = text.slice(at);
  }
  await pass(annotated(rest));
}
