// The README of the package `frazil`: that of the repository, whose relative links become links to where the docs are read. The package
// has no other page.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FILES_AT, repositorySetting } from "../release/repository.mjs";
import { root } from "../shell.mjs";

/** An image, with the empty lines after it. The package has none. */
const IMAGE = /!\[[^\]]*\]\([^)]*\)\n*/g;

/** A relative link in a line of text, outside of code. Its text can be code, and can have brackets. */
const LINK = /\[((?:`[^`]*`|\[[^\]]*\]|[^[\]`])+)\]\((?!https?:|#)([^)\s]+)\)/g;

/** A parenthesis that has nothing but links, with the white space before it. */
const LINKS_IN_PARENTHESES = new RegExp(`\\s+\\((?:${LINK.source}(?:, )?)+\\)`, "g");

/** Applies a function to a page, except to its blocks of code. */
const outsideOfBlocks = (text, change) =>
  text
    .split(/(^ *```.*?^ *```)/ms)
    .map((part, at) => (at % 2 === 0 ? change(part) : part))
    .join("");

/**
 * The README of the package. Without a repository, only the text is left of a link to one of its files, and nothing of a parenthesis
 * that has only such links.
 */
export function packedReadme(checkout = root) {
  const setting = repositorySetting(checkout);
  const text = readFileSync(join(checkout, "README.md"), "utf8");
  return outsideOfBlocks(text, (part) => {
    const shown = part.replaceAll(IMAGE, "");
    if (setting === undefined) return shown.replaceAll(LINKS_IN_PARENTHESES, "").replaceAll(LINK, "$1");
    return shown.replaceAll(LINK, (_, label, link) => `[${label}](${setting.repository}${FILES_AT}${link})`);
  });
}

/** Writes the README into `npm/frazil`. */
export const writeReadme = (checkout = root) =>
  writeFileSync(join(checkout, "npm/frazil/README.md"), packedReadme(checkout));
