// The navigation: the tree of docs/. docs/index.md gives the order and the names of the pages that it links to; the others follow, by the
// names of their files, with their headings as names.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const docs = fileURLToPath(new URL("../../docs/", import.meta.url));
const CHAPTERS = ["concepts", "guides", "reference", "internals"];
/** Folders of records of runs. */
const RECORDS = { reference: "reference/benchmarks/", internals: "proofs/" };

/** Whether a page is a record of runs. */
export const isRecord = (page) => Object.values(RECORDS).some((folder) => page.startsWith(folder));

const named = (text) => text[0].toUpperCase() + text.slice(1).replaceAll("`", "");
const titleOf = (page) => named(/^# (.*)$/m.exec(readFileSync(`${docs}${page}`, "utf8"))?.[1] ?? page);

/** The names that docs/index.md gives to pages, in its order. */
const names = new Map(
  [...readFileSync(`${docs}index.md`, "utf8").matchAll(/\[([^\]]+)\]\(([^)#\s]+\.md)\)/g)].map(([, text, page]) => [
    page,
    named(text.replaceAll(/\s+/g, " ")),
  ]),
);
const order = [...names.keys()];
const place = (page) => (order.indexOf(page) + 1 || order.length + 1) - (page.endsWith("/index.md") ? 0.5 : 0);
const itemOf = (page) => ({ text: names.get(page) ?? titleOf(page), link: `/${page.replace(/(index)?\.md$/, "")}` });

/** The pages of a folder, in order, each with those of the folder that has its name. */
function itemsOf(folder) {
  const entries = readdirSync(`${docs}${folder}`, { withFileTypes: true }).sort((a, b) => a.name.localeCompare(b.name));
  const pages = entries.filter(({ name }) => name.endsWith(".md")).map(({ name }) => `${folder}${name}`);
  // A folder without a page of its name has its own.
  const folders = entries
    .filter((entry) => entry.isDirectory() && !pages.includes(`${folder}${entry.name}.md`))
    .map(({ name }) => `${folder}${name}/index.md`)
    .filter((page) => existsSync(`${docs}${page}`));
  const isOwn = (page) => page !== `${folder}index.md`;
  return [...pages.filter(isOwn), ...folders]
    .sort((a, b) => place(a) - place(b))
    .map((page) => {
      const below = page.replace(/(\/index)?\.md$/, "/");
      if (!existsSync(`${docs}${below}`) || below === folder) return itemOf(page);
      return { ...itemOf(page), collapsed: true, items: itemsOf(below) };
    });
}

/** The pages of all chapters. */
export const sidebar = () => [
  itemOf("start.md"),
  itemOf("choosing.md"),
  ...CHAPTERS.map((chapter) => ({
    text: named(chapter),
    collapsed: false,
    items: [
      ...itemsOf(`${chapter}/`),
      ...(chapter === "internals" ? [{ text: "Records of runs", collapsed: true, items: itemsOf(RECORDS.internals) }] : []),
    ],
  })),
];

/** The first page of each chapter, for the top of the site. */
export const chapters = () => [
  { ...itemOf("start.md") },
  { ...itemOf("choosing.md") },
  ...CHAPTERS.map((chapter) => ({
    text: named(chapter),
    link: itemsOf(`${chapter}/`)[0].link,
    activeMatch: `^/${chapter}/`,
  })),
];
