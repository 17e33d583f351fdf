// The navigation: the tree of docs/, with the headings of the pages as their names. The order is that of docs/index.md. Pages without a
// link there follow, by file name.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const docs = fileURLToPath(new URL("../../docs/", import.meta.url));
const CHAPTERS = ["concepts", "guides", "reference", "internals"];
const MAX_TITLE = 32;
/** Folders of records of runs, by the page that explains them. */
const RECORDS = { "reference/benchmarks.md": "reference/benchmarks/", "internals/verification.md": "proofs/" };

/** Whether a page is a record of runs. */
export const isRecord = (page) => Object.values(RECORDS).some((folder) => page.startsWith(folder));

const named = (text) => text[0].toUpperCase() + text.slice(1);

/** The heading of a page; if long, the part before its colon. */
function titleOf(page) {
  const heading = /^# (.*)$/m.exec(readFileSync(`${docs}${page}`, "utf8"))[1].replaceAll("`", "");
  return heading.length > MAX_TITLE ? heading.split(": ")[0] : heading;
}

const linked = readFileSync(`${docs}index.md`, "utf8").matchAll(/\]\(([^)#\s]+\.md)\)/g);
const order = [...linked].map(([, page]) => page);
const place = (page) => order.indexOf(page) + 1 || order.length + 1;
const itemOf = (page) => ({ text: titleOf(page), link: `/${page.replace(/(index)?\.md$/, "")}` });

/** The pages of a folder, in order, each with those of the folder of its name. */
function itemsOf(folder) {
  const entries = readdirSync(`${docs}${folder}`, { withFileTypes: true }).sort((a, b) => a.name.localeCompare(b.name));
  const pages = entries.filter(({ name }) => name.endsWith(".md")).map(({ name }) => `${folder}${name}`);
  // A folder without a page of its name has its own entry.
  const folders = entries
    .filter((entry) => entry.isDirectory() && !pages.includes(`${folder}${entry.name}.md`))
    .map(({ name }) => `${folder}${name}/index.md`)
    .filter((page) => existsSync(`${docs}${page}`));
  const isOwn = (page) => page !== `${folder}index.md`;
  return [...pages.filter(isOwn), ...folders]
    .sort((a, b) => place(a) - place(b))
    .map((page) => {
      const below = RECORDS[page] ?? page.replace(/(\/index)?\.md$/, "/");
      if (!existsSync(`${docs}${below}`) || below === folder) return itemOf(page);
      return { ...itemOf(page), collapsed: true, items: itemsOf(below) };
    });
}

/** The pages of all chapters. Chapters cannot be folded: VitePress would nest one button in another. */
export const sidebar = () => [
  itemOf("start.md"),
  itemOf("choosing.md"),
  ...CHAPTERS.map((chapter) => ({ text: named(chapter), items: itemsOf(`${chapter}/`) })),
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
