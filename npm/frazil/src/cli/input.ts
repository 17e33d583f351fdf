/** The input of a command: its arguments, or the lines of standard input. */
import { fstatSync } from "node:fs";
import { FrazilError } from "frazil";
import type { Flags } from "./flags.js";
import { commandLineOf } from "./hints.js";
import { complain, line, print, told } from "./output.js";
import { Progress } from "./progress.js";
import { toldOf } from "./refusal.js";
import { MAX_ROW, type Rows, unquoted } from "./rows.js";
import { UsageError } from "./usage-error.js";

/** The kept length of a line. No ID is as long; a file without line ends must not fill the memory. */
const MAX_LINE = 4096;

/** The kept part of a line, with a mark that no ID has if something was cut. */
const cut = (text: string, max = MAX_LINE): string => (text.length > max ? `${text.slice(0, max)}…` : text);

/** The lines of a text that comes in pieces, all lines of a piece at once. */
export async function* linesOf(pieces: AsyncIterable<string>, max?: number): AsyncGenerator<string[]> {
  let rest = "";
  for await (const piece of pieces) {
    const lines = piece.split("\n");
    lines[0] = rest + lines[0];
    rest = cut(lines.pop() as string, max);
    if (lines.length > 0) yield lines;
  }
  if (rest !== "") yield [rest];
}

/** A command that reads IDs, and a command line that gives it one. */
export interface Reader {
  readonly command: string;
  readonly example: string;
  /** What it reads (default: an ID). */
  readonly reads?: string;
}

/** Whether the IDs are the lines of standard input: for `-`, and for no argument at the end of a pipe. */
export function readsLines(reader: Reader, flags: Flags, ids: readonly string[]): boolean {
  const isAsked = ids.includes("-");
  const fromFile = commandLineOf(reader.command, flags, "- < FILE");
  if (isAsked && ids.length > 1) throw new UsageError(`- is standard input, and stands alone\n${fromFile}`);
  if (ids.length > 0 && !isAsked) return false;
  if (!process.stdin.isTTY) checkReadable(fromFile);
  else if (!isAsked) throw needsId(reader);
  return true;
}

/** Refuses an unreadable standard input that Node treats as empty. */
function checkReadable(fromFile: string): void {
  const input = fstatSync(0);
  if (input.isDirectory() || input.isBlockDevice())
    throw new UsageError(
      `standard input is a ${input.isDirectory() ? "directory" : "device"}, not a file or a pipe\n${fromFile}`,
    );
}

export const needsId = ({ command, example, reads = "an ID" }: Reader) =>
  new UsageError(`${command} needs ${reads}\nnpx frazil ${example}, or one a line on standard input`);

/**
 * Prints the answer to each argument, separated by `between`. A refused one is reported with a hint, and the others are answered.
 * Returns the exit code: 1 if one was refused.
 */
export async function answerArguments(
  ids: readonly string[],
  answer: (text: string) => string,
  hintOf: (text: string) => string,
  between = "",
): Promise<number> {
  let [answered, refused] = [0, 0];
  for (const id of ids) {
    try {
      const text = answer(id);
      line(answered++ > 0 ? between + text : text);
    } catch (error) {
      if (!FrazilError.is(error)) throw error;
      refused++;
      const { message, hint } = toldOf(error);
      await complain(`frazil: ${told(`${error.code}: ${message}`, hintOf(id) || hint)}\n`);
    }
  }
  return refused > 0 ? 1 : 0;
}

/**
 * Prints the answer to each line of standard input, or to the column of `rows`. A line that is refused is reported, with its number, and
 * the others are answered. Returns the exit code: 1 if a line was refused.
 *
 * @throws {UsageError} if there is no line and no `-` asked for standard input, because a person may be waiting for an answer.
 */
export async function answerLines(
  reader: Reader,
  isAsked: boolean,
  answer: (text: string) => string,
  rows?: Rows,
): Promise<number> {
  const progress = new Progress();
  let [lines, refused] = [0, 0];
  let [answers, complaints] = ["", ""];
  const answerLine = (line: string): string | undefined => {
    if (rows !== undefined) return rows.answer(line, answer);
    const text = cut(line).trim();
    return text === "" ? undefined : answer(unquoted(text));
  };
  /** Adds the answer of a call, or a complaint. */
  const collect = (call: () => string | undefined) => {
    try {
      const answered = call();
      if (answered !== undefined) answers += `${answered}\n`;
    } catch (error) {
      if (!FrazilError.is(error)) throw error;
      refused++;
      complaints += `frazil: line ${lines}: ${error.code}: ${toldOf(error).message}\n`;
    }
  };
  const flush = async () => {
    if (complaints !== "") progress.clear();
    await complain(complaints);
    await print(answers);
    [answers, complaints] = ["", ""];
  };
  process.stdin.setEncoding("utf8");
  for await (const some of linesOf(process.stdin, rows && MAX_ROW)) {
    for (const line of some) {
      lines++;
      collect(() => answerLine(line));
    }
    await flush();
    progress.show(lines);
  }
  if (rows !== undefined) collect(() => rows.end());
  await flush();
  progress.clear();
  if (lines === 0 && !isAsked) throw needsId(reader);
  return refused > 0 ? 1 : 0;
}
