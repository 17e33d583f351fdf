/** Texts of stores, drivers and servers, as parts of a message. */
import { plain } from "./errors.js";

/** Its password is withheld up to the last `@`, since a password may have one. In linear time, whatever the text. */
const withoutPassword = (url: string): string => url.replace(/^(..[^:]*:).*@/s, "$1…@");

/**
 * What somebody else said, as a part of a message: on one line, without passwords of URLs and without what a terminal acts on or hides, and
 * at most 300 characters. @internal
 */
export const fromOutside = (text: unknown): string =>
  plain(
    `${text}`
      .replace(/\/\/[^\s:/]*:\S*/g, withoutPassword)
      .replace(/^(.{300}).+/su, "$1…")
      .replace(/\s*[\n\r]\s*/g, " "),
  );
