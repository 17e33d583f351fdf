/** `npx frazil seal` and `npx frazil open`: sealed texts of IDs, and back. */
import { DecodeError } from "frazil";
import { show, showName } from "../base/errors.js";
import { type PublicIds, publicIds } from "../public/index.js";
import { layoutOf } from "./chosen-layout.js";
import type { Command } from "./command.js";
import type { FlagName, Flags } from "./flags.js";
import { tryRead, withoutN } from "./forms.js";
import { commandLineOf } from "./hints.js";
import { answerArguments, answerLines, type Reader, readsLines } from "./input.js";
import { KEY_FLAGS, keysOf } from "./keys.js";
import { columnsOf, Rows } from "./rows.js";
import { UsageError } from "./usage-error.js";

const SEAL = { command: "seal", example: "seal 382138004275228672 --kind usr --key-file id.key" };
const OPEN = { command: "open", example: "open usr_0LrCR3y82ZiHd1GYZNR3XN --key-file id.key", reads: "a text" };

/** The most columns that an error names. */
const MAX_SHOWN = 12;

/** A name, in quotes if it would look like more than one. */
const shownColumn = (name: string): string => (/^\S+$/.test(name) ? showName(name) : show(name));

/** Refuses a first line of several columns, of which none was named. */
function refuseRows({ command, reads = "an ID" }: Reader, flags: Flags, line: string): void {
  const columns = columnsOf(line.trim());
  if (columns.length < 2) return;
  const names = columns.slice(0, MAX_SHOWN).map(shownColumn).join(", ");
  const more = columns.length > MAX_SHOWN ? ", …" : "";
  throw new UsageError(
    `${command} reads ${reads} a line, and the first line has ${columns.length} columns: ${names}${more}\nName one, or give its number: ${commandLineOf(command, flags, "--column NAME < FILE")}`,
  );
}

/** Answers the arguments, or the lines or a column of standard input. */
function answers(
  reader: Reader,
  flags: Flags,
  texts: readonly string[],
  answer: (text: string) => string,
  hintOf: (text: string) => string,
): Promise<number> {
  const { column } = flags;
  const rows = column === undefined ? undefined : new Rows(column);
  const checkFirst = (line: string) => refuseRows(reader, flags, line);
  if (readsLines(reader, flags, texts)) return answerLines({ ...reader, checkFirst }, texts.length > 0, answer, rows);
  if (rows !== undefined)
    throw new UsageError("--column is for standard input\nGive a file: < FILE, instead of arguments.");
  return answerArguments(texts, answer, hintOf);
}

async function runSeal(flags: Flags, ids: readonly string[]): Promise<number> {
  const { kind } = flags;
  if (kind === undefined) throw new UsageError(`seal needs --kind\nnpx frazil ${SEAL.example}`);
  const layout = layoutOf(flags);
  const sealed = publicIds({ kind, keys: await keysOf(SEAL, flags), layout });
  return answers(
    SEAL,
    flags,
    ids,
    (text) => sealed.encode(layout.parse(withoutN(text))),
    () => "",
  );
}

const notOf = (text: string, rule: string, hint = "") =>
  new DecodeError("INVALID_TEXT", `text ${rule}, got ${show(text)}\n${hint}`, { field: "text", value: text, rule });

/** Opens texts. The kind of one with a prefix is the prefix, as with `defineId`. */
function opener(keys: readonly string[], flags: Flags): (text: string) => string {
  const layout = layoutOf(flags);
  let sealed: PublicIds | undefined;
  return (text) => {
    // Errors show texts, and of one with a prefix what follows it.
    if (text.includes("frazilkey_"))
      throw new DecodeError(
        "INVALID_TEXT",
        "text must be that of an ID, got a key\nMake a new key if others saw this one.",
      );
    const end = text.lastIndexOf("_");
    const { kind = text.slice(0, Math.max(0, end)) } = flags;
    if (end < 0 && flags.kind === undefined)
      throw notOf(text, "must begin with its kind, such as usr_", "Give the kind: --kind usr");
    if (end >= 0 && text.slice(0, end) !== kind) throw notOf(text, `must begin with ${kind}_`);
    if (sealed?.kind !== kind) sealed = publicIds({ kind, keys, layout });
    return `${sealed.decode(text.slice(end + 1))}`;
  };
}

/** What a text is that is not sealed: an ID already, or one that is only typed. */
function hintOfOpen(text: string): string {
  const digits = text.slice(text.lastIndexOf("_") + 1);
  if (tryRead("decimal", text) !== undefined) return `It is an ID already: npx frazil decode ${text}`;
  if (digits.length === 11 && tryRead("base62", digits) !== undefined)
    return `It may not be sealed: npx frazil decode --from base62 ${digits}`;
  return "";
}

async function runOpen(flags: Flags, texts: readonly string[]): Promise<number> {
  return answers(OPEN, flags, texts, opener(await keysOf(OPEN, flags), flags), hintOfOpen);
}

const FLAGS: readonly FlagName[] = ["kind", ...KEY_FLAGS, "column", "layout"];

export const seal: Command = {
  name: "seal",
  summary: "IDs as texts that hide them, with a key",
  usage: "[ID … | -] --kind NAME --key-file PATH",
  examples: [
    [SEAL.example, "0LrCR3y82ZiHd1GYZNR3XN"],
    ["seal --kind usr --key-env ID_KEY < ids.txt", "one ID a line, as are the answers"],
  ],
  notes: "The text depends on the key.",
  flags: FLAGS,
  takesArguments: true,
  run: runSeal,
};

export const open: Command = {
  name: "open",
  summary: "the IDs of sealed texts, with their key",
  usage: "[TEXT … | -] --key-file PATH",
  examples: [
    [OPEN.example, "382138004275228672"],
    ["open --key-file id.key --column user < users.csv", "the same rows, with the ID in the column user"],
  ],
  notes: "The kind of usr_… is usr. A text without a prefix needs --kind, and each opens with its own key only.",
  flags: FLAGS,
  takesArguments: true,
  run: runOpen,
};
