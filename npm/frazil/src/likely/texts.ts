/** What a text is that was given as an ID: the usual forms, and what is wrong with it. */
import { UUID, UUID_HINT } from "../base/other-texts.js";

/** A text of this length that has a letter is rather a form of text than mistyped digits. */
const SHORTEST_TEXT = 8;

/** The forms that people print IDs in, most likely first, since a text can be of several. */
const USUAL_FORMS = ["hex", "base62", "base58", "base32", "base36", "crockford", "base64url"];

/** Reads a text in a form. */
export type ReadForm = (form: string, text: string) => bigint | undefined;

/** Which usual forms a text can be in. */
export function likelyForms(text: string, read: ReadForm): string[] {
  if (text.length < SHORTEST_TEXT || !/[A-Za-z]/.test(text)) return [];
  return USUAL_FORMS.filter((form) => read(form, text) !== undefined);
}

/** The decimal IDs within a text, such as the address of a page. */
export const decimalsIn = (text: string): string[] => text.match(/(?<!\d)\d{15,20}(?!\d)/g) ?? [];

/** What a text is that is no ID in any form. */
export function otherKind(text: string): string | undefined {
  if (/^\d+(\.\d+)?e\+?\d+$/i.test(text))
    return "It was a JavaScript number, which lost its last digits. Keep IDs as text.";
  if (UUID.test(text)) return UUID_HINT;
  return undefined;
}

/**
 * Whether decimal text is what JavaScript prints of a number that may have lost digits. One in 30 IDs of 18 digits looks so, and fewer of
 * 19.
 */
export const looksRounded = (decimal: string): boolean =>
  decimal.length >= 17 && BigInt(decimal) > BigInt(Number.MAX_SAFE_INTEGER) && `${Number(decimal)}` === decimal;
