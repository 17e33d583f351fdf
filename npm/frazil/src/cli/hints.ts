/** The probable kind of an argument that was refused as an ID, and the command line that reads it. */
import { statSync } from "node:fs";
import { Layout } from "frazil";
import { decimalsIn, likelyForms, otherKind } from "../likely/texts.js";
import type { Flags } from "./flags.js";
import { tryRead, withoutN } from "./forms.js";

/** Whether it is the path of a file that can be reached: a text that is no ID can also be no path. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** A text, quoted for a shell. */
export const quoted = (text: string): string =>
  /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** Whether only layouts of 64 bits have it. The others have at most 63. */
const isWide = (id: bigint): boolean => id >> 63n === 1n;
const wideLayouts = () => Layout.names.filter((name) => Layout.named(name).unsigned);

/** The given command line, with its IDs replaced. */
export function commandLineOf(command: string, given: Flags, rest: string): string {
  const { layout, epoch, from, as, json, ...others } = given;
  const flags = Object.entries({ layout, epoch, from, as, ...others }).flatMap(([flag, values]) =>
    [values].flat().flatMap((value) => (value === undefined ? [] : [`--${flag} ${quoted(`${value}`)}`])),
  );
  return ["npx frazil", command, ...flags, ...(json ? ["--json"] : []), rest].join(" ");
}

/** The command line that reads a text in a form, with a layout of enough bits. */
function reading(command: string, flags: Flags, form: string, text: string): string | undefined {
  const id = tryRead(form, text);
  if (id === undefined) return undefined;
  const [layout] = wideLayouts();
  const wide = command === "decode" && isWide(id) && layout !== undefined ? { layout } : {};
  const from = form === "decimal" ? {} : { from: form };
  return commandLineOf(command, { ...flags, ...wide, ...from }, text.startsWith("-") ? `-- ${text}` : text);
}

/** The hint for an argument that was refused; empty if there is none. */
export function hintFor(command: "decode" | "convert", text: string, flags: Flags): string {
  const { from } = flags;
  const is = (what: string, line: string | undefined) => (line === undefined ? "" : `${what}: ${line}`);
  const [, hex] = /^0x([\da-f]+)$/i.exec(text) ?? [];
  if (hex !== undefined && (from === undefined || from === "hex"))
    return is("Without 0x", reading(command, flags, "hex", hex.toLowerCase()));
  const number = withoutN(text);
  if (from === undefined && /^-\d+$/.test(number))
    return is("Negative numbers are signed ones", reading(command, flags, "signed", number));
  const id = tryRead(from ?? "decimal", number);
  if (command === "decode" && id !== undefined && isWide(id))
    return is(`It has 64 bits, as in ${wideLayouts().join(", ")}`, reading(command, flags, from ?? "decimal", number));
  if (from !== undefined) return "";
  if ((Layout.names as readonly string[]).includes(text)) return `It is a layout: give it with --layout ${text}`;
  const [, digits = ""] = /^[a-z][a-z_]*_([\dA-Za-z]+)$/.exec(text) ?? [];
  if (digits.length === 22) return `It may be sealed: npx frazil open ${text} --key-file PATH`;
  if (digits.length === 11) return is("It may be a typed ID", reading(command, flags, "base62", digits));
  const other = otherKind(text);
  if (other !== undefined) return other;
  if (isFile(text)) return is("It is a file", commandLineOf(command, flags, `- < ${quoted(text)}`));
  // For example in a URL.
  const [within, ...more] = decimalsIn(text);
  if (within !== undefined && more.length === 0)
    return is("An ID may be in it", reading(command, flags, "decimal", within));
  const [form = "", ...others] = likelyForms(text, tryRead);
  const also = others.length === 0 ? "" : ` (or ${others.join(", ")})`;
  return is(`It can be an ID as ${form}${also}`, reading(command, flags, form, text));
}
