/** The forms in which the command line reads and prints IDs: decimal text, signed numbers, and every form of `frazil/text`. */
import { FrazilError, Layout } from "frazil";
import { show } from "../base/errors.js";
import { hintOf } from "../base/option-keys.js";
import type { FixedForm, TextForm } from "../text/index.js";
import * as texts from "../text/index.js";
import { listText } from "./output.js";
import { UsageError } from "./usage-error.js";

/** Reads and prints IDs. */
export interface Form {
  /** @throws {DecodeError} if the text is not an ID in this form. */
  readonly read: (text: string) => bigint;
  readonly print: (id: bigint) => string;
}

/** A layout that uses all 64 bits, so it accepts every ID. */
const ANY = Layout.named("mastodon");

/** Whether an export of `frazil/text` is a form of text instead of bytes. */
const isTextForm = (exported: object): exported is TextForm | FixedForm =>
  "tryDecode" in exported && typeof (exported as TextForm).encode(0n) === "string";

/** The suffix of a form without leading zero digits. */
const SHORT = "-short";

/** A form in full, and without leading zero digits. Both are read: they differ in length. */
function formsOf(name: string, form: TextForm | FixedForm): [string, Form][] {
  if (!("short" in form)) return [[name, { read: form.decode, print: form.encode }]];
  const { width, short } = form;
  const read = (text: string) => (text.length < width ? short.decode(text) : form.decode(text));
  return [
    [name, { read, print: form.encode }],
    [name + SHORT, { read, print: short.encode }],
  ];
}

/** A number without the `n` with which a console prints a bigint. */
export const withoutN = (text: string): string => (/^-?\d+n$/.test(text) ? text.slice(0, -1) : text);

const FORMS: ReadonlyMap<string, Form> = new Map<string, Form>([
  ["decimal", { read: (text) => ANY.parse(withoutN(text)), print: String }],
  ["signed", { read: (text) => ANY.fromSigned(withoutN(text)), print: (id) => `${ANY.toSigned(id)}` }],
  ...Object.entries(texts).flatMap(([name, exported]) => (isTextForm(exported) ? formsOf(name, exported) : [])),
]);

/** The names of the forms, for the help. */
export const FORM_LIST = listText([...FORMS.keys()].filter((name) => !name.endsWith(SHORT)));

/** The form in a flag; decimal text by default. */
export function formOf(flag: "from" | "as", name = "decimal"): Form {
  const form = FORMS.get(name);
  if (form !== undefined) return form;
  const names = [...FORMS.keys()];
  // base64 is nearer to base62 than to base64url.
  const longer = names.find((known) => name.length > 5 && known.startsWith(name.toLowerCase()));
  const hint = longer === undefined ? hintOf(name.toLowerCase(), names.join(", ")) : `Did you mean "${longer}"?`;
  throw new UsageError(`--${flag} must be the name of a form, got ${show(name)}\n${hint}`);
}

/** The ID of a text in a form, or `undefined`. */
export function tryRead(name: string, text: string): bigint | undefined {
  try {
    return FORMS.get(name)?.read(text);
  } catch (error) {
    if (FrazilError.is(error)) return undefined;
    throw error;
  }
}
