// The pages that the package `frazil` contains: the README of the repository, and those of `docs` for users. In the repository their links
// are relative; here each becomes a link that works where the page is read.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { readJson } from "../packages.mjs";
import { repositorySetting } from "../release/repository.mjs";
import { root } from "../shell.mjs";

/** Pages for those who work on frazil. */
const NOT_PACKED = ["architecture.md", "proofs.md", "releasing.md"];

const pagesIn = (checkout, folder) =>
  readdirSync(join(checkout, folder))
    .filter((name) => name.endsWith(".md") && !NOT_PACKED.includes(name))
    .sort()
    .map((name) => `${folder}/${name}`);

/** Every page of the package, as a path from the root of the repository and of the package. */
const pathsOf = (checkout) => ["README.md", ...pagesIn(checkout, "docs"), ...pagesIn(checkout, "docs/stores")];

/** An image, with the empty lines after it. The package has none. */
const IMAGE = /!\[[^\]]*\]\([^)]*\)\n*/g;

/** A link in a line of text, outside of code. Its text can be code, and can have brackets. */
const LINK = /\[((?:`[^`]*`|\[[^\]]*\]|[^[\]`])+)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)/g;

/** A parenthesis that has nothing but links, with the white space before it. */
const LINKS_IN_PARENTHESES = new RegExp(`\\s+\\((?:${LINK.source}(?:, )?)+\\)`, "g");

/** Applies a function to a page, except to its blocks of code. */
const outsideOfBlocks = (text, change) =>
  text
    .split(/(^ *```.*?^ *```)/ms)
    .map((part, at) => (at % 2 === 0 ? change(part) : part))
    .join("");

/**
 * A page of the repository as it is in the package. A link leads to a page in the package, or to the repository at the tag of the
 * version. Without a repository, only the text is left of a link to what the package does not contain, and nothing of a parenthesis that
 * has only such links. In the README every link leads to the repository if there is one: npm's web site shows the README, and no other
 * file.
 */
function packedPage(text, path, { paths, address }) {
  /** Where a link leads, or `undefined`. */
  const targetOf = ([, , link, anchor = ""]) => {
    const linked = posix.join(posix.dirname(path), link);
    if (paths.includes(linked) && (address === undefined || path !== "README.md")) return `${link}${anchor}`;
    return address && `${address}/${linked}${anchor}`;
  };
  const leads = (match) => targetOf(match) !== undefined;
  return outsideOfBlocks(text, (part) =>
    part
      .replaceAll(IMAGE, "")
      .replaceAll(LINKS_IN_PARENTHESES, (all) => ([...all.matchAll(LINK)].some(leads) ? all : ""))
      .replaceAll(LINK, (...match) => (leads(match) ? `[${match[1]}](${targetOf(match)})` : match[1])),
  );
}

/** Every page of the package: its path there, and its text. */
export function packedPages(checkout = root) {
  const paths = pathsOf(checkout);
  const setting = repositorySetting(checkout);
  const { version } = readJson(join(checkout, "npm/frazil/package.json"));
  const address = setting && `${setting.repository}/blob/v${version}`;
  return paths.map((path) => ({
    path,
    text: packedPage(readFileSync(join(checkout, path), "utf8"), path, { paths, address }),
  }));
}

/** Writes the pages into `npm/frazil`. */
export function writePages(checkout = root) {
  const frazil = join(checkout, "npm/frazil");
  rmSync(join(frazil, "docs"), { recursive: true, force: true });
  for (const { path, text } of packedPages(checkout)) {
    mkdirSync(dirname(join(frazil, path)), { recursive: true });
    writeFileSync(join(frazil, path), text);
  }
}
