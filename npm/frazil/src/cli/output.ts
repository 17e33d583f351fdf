/** Standard output and standard error: no faster than their reader, and no error if it has read enough. */
import { once } from "node:events";
import { fstatSync, writeSync } from "node:fs";
import { KEY } from "../base/errors.js";

/** Whether an error of a stream means that its reader has closed it. */
const isReaderGone = ({ code }: NodeJS.ErrnoException): boolean => code === "EPIPE" || code === "EOF";

/** The exit code if the output cannot be written. */
let failure = 1;
/** Sets that exit code, for a command whose 1 is an answer. */
export const failWith = (exitCode: number): void => {
  failure = exitCode;
};

/** Ends the process because its output does not arrive: with success if the reader has read enough. */
function end(error: NodeJS.ErrnoException): never {
  if (isReaderGone(error)) process.exit(0);
  process.stderr.write(`frazil: cannot write the output: ${error.message}\n`);
  process.exit(failure);
}

/**
 * Ends the process, with success, when the reader of standard output closes it, as `head` does after its lines. Further output is not
 * wanted. Any other error of a stream, such as a full disk, ends it with the exit code 1 (or that of `failWith`). If standard error is
 * closed, the command continues, with the usual exit code.
 */
export function endWithReader(): void {
  process.stdout.on("error", end);
  process.stderr.on("error", (error: NodeJS.ErrnoException) => {
    // Standard error may be on the same disk as the output. Then only the exit code reports it.
    if (!isReaderGone(error)) process.exit(failure);
  });
}

/**
 * Leaves out the warning about WebAssembly, which is for programs with threads. A command has one thread, and is refused where it needs the
 * addon. `doctor` says why there is none.
 */
export function leaveOutBackendWarning(): void {
  const { emitWarning } = process;
  process.emitWarning = ((...given: Parameters<typeof emitWarning>) => {
    const about: unknown = given[1];
    if ((about as { code?: unknown } | undefined)?.code !== "FRAZIL_WASM") emitWarning.apply(process, given);
  }) as typeof emitWarning;
}

/** Whether standard output is a file. */
let isFile: boolean | undefined;

/**
 * Writes a text to a file. On a full disk, Node's stream silently drops the rest.
 */
function writeToFile(text: string | Uint8Array): void {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
  } catch (error) {
    end(error as NodeJS.ErrnoException);
  }
}

/** Writes a text to standard output. Returns whether its reader keeps up. */
export function put(text: string | Uint8Array): boolean {
  isFile ??= fstatSync(1).isFile();
  if (!isFile) return process.stdout.write(text);
  writeToFile(text);
  return true;
}

/** Writes a text to standard output, and waits as long as the reader is behind. */
export async function print(text: string | Uint8Array): Promise<void> {
  if (text.length > 0 && !put(text)) await once(process.stdout, "drain");
}

/** A text with escapes for characters that a terminal would act on or hide, except line ends. */
export const printable = (text: string): string =>
  text.replace(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu, (unseen) => `\\u{${(unseen.codePointAt(0) as number).toString(16)}}`);

/** What stands before the host of a URL, which can be a password; also where the text is cut before the host. */
const ACCOUNT = /\/\/(?:\S*:\S*|[^\s/]*)(?=[@…])/g;

/** The same to standard error, with control characters as escapes and without passwords and keys, since it shows what was typed or read. */
export async function complain(text: string): Promise<void> {
  // The callback is called with an error too, where nobody reads.
  if (text !== "")
    await new Promise<void>((resolve) =>
      process.stderr.write(printable(text.replace(ACCOUNT, "//…").replace(KEY, "…")), () => resolve()),
    );
}

/** The text of an error: a message, and a hint on its own line. */
export const told = (message: string, hint?: string): string => (hint ? `${message}\nhint: ${hint}` : message);

export const line = (text: string): void => {
  put(`${text}\n`);
};

/** Names in a list, in lines of some 80 characters. */
export const listText = (names: readonly string[]): string => names.join(", ").replace(/(.{60,80}?,) /g, "$1\n");

/** Rows of columns, each padded to its widest entry, except the last. */
export function tableText(rows: readonly (readonly unknown[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, `${cell}`.length);
  const lines = rows.map((row) => {
    const cells = row.map((cell, at) =>
      at === row.length - 1 ? `${cell}` : `${cell}`.padEnd((widths[at] as number) + 2),
    );
    return cells.join("").trimEnd();
  });
  return lines.join("\n");
}

/** Prints rows of columns. */
export const table = (rows: readonly (readonly unknown[])[]): void => line(printable(tableText(rows)));
