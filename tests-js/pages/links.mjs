// The links of pages, and those of them that lead nowhere.
import { posix } from "node:path";

const withoutBlocks = (text) => text.replaceAll(/^ *```.*?^ *```/gms, "");

/** The anchors of a page: those of its tables, and those that GitHub and npm make from headings. */
function anchorsOf(text) {
  const prose = withoutBlocks(text);
  const anchors = new Set([...prose.matchAll(/<a id="([^"]*)">/g)].map(([, id]) => id));
  const seen = new Map();
  for (const [, heading] of prose.matchAll(/^#+ (.*)$/gm)) {
    const anchor = heading
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
      .replaceAll(" ", "-");
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    anchors.add(count === 0 ? anchor : `${anchor}-${count}`);
  }
  return anchors;
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
