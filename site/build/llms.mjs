// llms.txt (https://llmstxt.org): the pages with the first sentence of each, in the order of the navigation. llms-full.txt: their texts.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isRecord, sidebar } from "./navigation.mjs";

const textOf = (page) => readFileSync(fileURLToPath(new URL(`../../docs/${page}`, import.meta.url)), "utf8");
const pageOf = (link) => `${link.slice(1)}${link.endsWith("/") ? "index" : ""}.md`;

/** The first sentence of the first paragraph of a page, without Markdown syntax. */
function firstSentence(text) {
  const paragraphs = text.split("\n\n").slice(1);
  const paragraph = paragraphs.find((one) => /^(?!```)[A-Z`*[]/.test(one)) ?? "";
  const plain = paragraph
    .replaceAll("\n", " ")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll("**", "");
  return /^.*?[.:](?= [A-Z`]|$)/.exec(plain)?.[0].replace(/:$/, ".") ?? plain;
}

/** The items of the navigation, each before those below it. */
const flat = (items) => items.flatMap((item) => [item, ...flat(item.items ?? [])]);
const listed = (items) => flat(items).filter(({ link }) => link !== undefined && !isRecord(pageOf(link)));

/** Writes both texts into the built site. */
export function writeTextsForAssistants(folder, base) {
  const all = sidebar();
  const chapters = all.filter(({ items }) => items !== undefined);
  const first = { text: "Start", items: all.filter(({ items }) => items === undefined) };
  const lineOf = ({ text, link }) => {
    const page = pageOf(link);
    return `- [${text}](${base}${page.replace(/\.md$/, ".html")}): ${firstSentence(textOf(page))}\n`;
  };
  const about = textOf("index.md").split("\n\n")[1].replaceAll("\n", " ");
  const sections = [first, ...chapters].map(
    ({ text, items }) => `\n## ${text}\n\n${listed(items).map(lineOf).join("")}`,
  );
  writeFileSync(`${folder}/llms.txt`, `# Frazil\n\n> ${about}\n${sections.join("")}`);
  const full = listed([first, ...chapters]).map(({ link }) => textOf(pageOf(link)));
  writeFileSync(`${folder}/llms-full.txt`, full.join("\n\n"));
}
