// The links of pages, and those of them that lead nowhere.
import { posix } from "node:path";

const withoutBlocks = (text) => text.replaceAll(/^ *```.*?^ *```/gms, "");

/** The anchors of a page, as GitHub and npm make them from headings. */
function anchorsOf(text) {
  const seen = new Map();
  return new Set(
    [...withoutBlocks(text).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => {
      const anchor = heading
        .trim()
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
        .replaceAll(" ", "-");
      const count = seen.get(anchor) ?? 0;
      seen.set(anchor, count + 1);
      return count === 0 ? anchor : `${anchor}-${count}`;
    }),
  );
}

/** The links of a page, outside of code. */
export const linksOf = (text) =>
  [
    ...withoutBlocks(text)
      .replaceAll(/`[^`]*`/g, "code")
      .matchAll(/\]\(([^)\s]+)\)/g),
  ].map(([, link]) => link);

/** The dead links of pages (path to text), beside which the files `isThere` are. */
export function deadLinks(pages, isThere) {
  const dead = [];
  for (const [path, text] of pages)
    for (const link of linksOf(text).filter((link) => !/^https?:/.test(link))) {
      const [file, anchor] = link.split("#");
      const target = file === "" ? path : posix.join(posix.dirname(path), file);
      if (!isThere(target)) dead.push(`${path}: ${link}`);
      else if (anchor !== undefined && pages.has(target) && !anchorsOf(pages.get(target)).has(anchor))
        dead.push(`${path}: ${link} (no such heading)`);
    }
  return dead;
}
