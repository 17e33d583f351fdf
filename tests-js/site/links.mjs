// The links of the built pages, and those that lead nowhere.
import { readFileSync } from "node:fs";
import { fileOf, pages } from "./site.mjs";

/** The links to this site and the anchors of a page, from its HTML. */
export function parsed(html) {
  const attribute = (name) =>
    [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, "g"))].map(([, value]) => value.replaceAll("&amp;", "&"));
  return { links: [...attribute("href"), ...attribute("src")], anchors: new Set(attribute("id")) };
}

/** Each page of the site by its path. */
export const allPages = () => new Map(pages().map((path) => [path, parsed(readFileSync(fileOf(path), "utf8"))]));

/** The links that no file or no anchor answers, of all pages or of others. */
export function deadLinks(all, from = all) {
  const dead = [];
  for (const [path, { links }] of from)
    for (const link of links) {
      const { origin, pathname, hash } = new URL(link, new URL(path, "http://site"));
      if (origin !== "http://site") continue;
      const target = decodeURIComponent(pathname);
      if (fileOf(target) === undefined) dead.push(`${path}: ${link}`);
      else if (hash !== "" && !all.get(target)?.anchors.has(decodeURIComponent(hash.slice(1))))
        dead.push(`${path}: ${link} (no such anchor)`);
    }
  return dead;
}
