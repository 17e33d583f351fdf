/** The kind of a text that was given as an ID: its usual forms, and what is wrong with it. */
import { UUID, UUID_HINT } from "../base/other-texts.js";

/** From this length on, a text with a letter is more likely a text form than mistyped digits. */
const SHORTEST_TEXT = 8;

/** The usual printed forms of IDs, most likely first, because a text can have several. */
const USUAL_FORMS = ["hex", "base62", "base58", "base32", "base36", "crockford", "base64url"];

/** Reads a text in a form. */
export type ReadForm = (form: string, text: string) => bigint | undefined;

/** Which usual forms a text can be in. */
export function likelyForms(text: string, read: ReadForm): string[] {
  if (text.length < SHORTEST_TEXT || !/[A-Za-z]/.test(text)) return [];
  return USUAL_FORMS.filter((form) => read(form, text) !== undefined);
}

/** The decimal IDs in a text, such as a URL. */
export const decimalsIn = (text: string): string[] => text.match(/(?<!\d)\d{15,20}(?!\d)/g) ?? [];

/** The kind of a text that is not an ID in any form. */
export function otherKind(text: string): string | undefined {
  if (/^\d+(\.\d+)?e\+?\d+$/i.test(text))
    return "It was a JavaScript number, which lost its last digits. Keep IDs as text.";
  if (UUID.test(text)) return UUID_HINT;
  return undefined;
}

/**
 * Whether JavaScript may have printed this decimal text from a number that lost digits. One in 30 IDs of 18 digits looks so, and fewer of
 * 19.
 */
export const looksRounded = (decimal: string): boolean =>
  decimal.length >= 17 && BigInt(decimal) > BigInt(Number.MAX_SAFE_INTEGER) && `${Number(decimal)}` === decimal;
