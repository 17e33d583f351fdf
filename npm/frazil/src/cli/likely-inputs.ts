/** What an argument that was refused as an ID probably is, and the command line that reads it. */
import { statSync } from "node:fs";
import { Layout } from "frazil";
import { UUID } from "../layout/id.js";
import type { Flags } from "./flags.js";
import { tryRead, withoutN } from "./forms.js";

/** A text of this length that has a letter is rather a form of text than mistyped digits. */
const SHORTEST_TEXT = 8;

/** The forms that people print IDs in, most likely first, since a text can be of several. */
const USUAL_FORMS = ["hex", "base62", "base58", "base32", "base36", "crockford", "base64url"];

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** A text as a shell takes it. */
const quoted = (text: string): string => (/^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** Whether only the layouts of 64 bits have it. The others have 63 at most. */
const isWide = (id: bigint): boolean => id >> 63n === 1n;
const wideLayouts = () => Layout.names.filter((name) => Layout.named(name).unsigned);

/** The command line that was given, with something else in place of its IDs. */
export function commandLineOf(command: string, { layout, epoch, from, as, json }: Flags, rest: string): string {
  const flags = Object.entries({ layout, epoch, from, as }).flatMap(([flag, value]) =>
    value === undefined ? [] : [`--${flag} ${quoted(value)}`],
  );
  return ["npx frazil", command, ...flags, ...(json ? ["--json"] : []), rest].join(" ");
}

/** The command line that reads a text in a form: in a layout that has so many bits. */
function reading(command: string, flags: Flags, form: string, text: string): string | undefined {
  const id = tryRead(form, text);
  if (id === undefined) return undefined;
  const [layout] = wideLayouts();
  const wide = command === "decode" && isWide(id) && layout !== undefined ? { layout } : {};
  const from = form === "decimal" ? {} : { from: form };
  return commandLineOf(command, { ...flags, ...wide, ...from }, text.startsWith("-") ? `-- ${text}` : text);
}

/** What a text is that is no ID in any form. */
function otherKind(text: string): string | undefined {
  if (/^\d+(\.\d+)?e\+?\d+$/i.test(text))
    return "It was a JavaScript number, which lost its last digits. Keep IDs as text.";
  if ((Layout.names as readonly string[]).includes(text)) return `It is a layout: give it with --layout ${text}`;
  if (UUID.test(text)) return "That is a UUID (128 bits), not a Snowflake ID.";
  return undefined;
}

/** Which usual forms a text can be in. */
function likelyForms(text: string): string[] {
  if (text.length < SHORTEST_TEXT || !/[A-Za-z]/.test(text)) return [];
  return USUAL_FORMS.filter((form) => tryRead(form, text) !== undefined);
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
  const other = otherKind(text);
  if (other !== undefined) return other;
  if (isFile(text)) return is("It is a file", commandLineOf(command, flags, `- < ${quoted(text)}`));
  // Such as in the address of a page.
  const [within, ...more] = text.match(/(?<!\d)\d{15,20}(?!\d)/g) ?? [];
  if (within !== undefined && more.length === 0)
    return is("An ID may be in it", reading(command, flags, "decimal", within));
  const [form = "", ...others] = likelyForms(text);
  const also = others.length === 0 ? "" : ` (or ${others.join(", ")})`;
  return is(`It can be an ID as ${form}${also}`, reading(command, flags, form, text));
}
