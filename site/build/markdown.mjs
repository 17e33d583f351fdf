// Changes to the pages that the site needs and GitHub does not.
import { readFileSync } from "node:fs";
import { withCodeGroups } from "./code-groups.mjs";

/** The decoder of the first page. Without JavaScript, its content is shown instead of the element. */
const DECODER = `## Decode an ID

<frazil-decoder><p>The decoder needs JavaScript. In a terminal: <code>npx frazil decode ID</code></p></frazil-decoder>`;

const withoutBraces = (html) => html.replaceAll("{{", "&#123;&#123;");

/** Calls a function for each token, including nested ones. */
function eachToken(tokens, visit) {
  for (const token of tokens) {
    visit(token);
    if (token.children) eachToken(token.children, visit);
  }
}

/** The first screen of the README, for a page of docs/. */
function firstScreen() {
  const [, screen] = /^# .*\n([\s\S]*?)\n## Pages\n/.exec(
    readFileSync(new URL("../../README.md", import.meta.url), "utf8"),
  );
  return screen.replaceAll("](docs/", "](");
}

/** The site's replacements for parts of a page. `exported`: the pages of the entries of the package. */
const replacements = (exported) => ({
  "index.md": [/(?<=^# .*\n)[\s\S]*?(?=\n## The four ways in code\n)/, `${firstScreen()}\n${DECODER}\n`],
  "reference/api.md": [
    /(?=\n`import \{)/,
    `\nEvery export: ${exported.map(({ specifier, page }) => `[\`${specifier}\`](api/${page})`).join(", ")}.\n`,
  ],
});

function withReplacement(text, page, [part, added]) {
  if (!part.test(text)) throw new Error(`docs/${page} has no ${part}, where the site has something else`);
  return text.replace(part, () => added);
}

export function editMarkdown(md, outside, exported) {
  const all = replacements(exported);
  md.core.ruler.before("normalize", "replacements", (state) => {
    const page = state.env.relativePath;
    state.src = withCodeGroups(page in all ? withReplacement(state.src, page, all[page]) : state.src);
  });
  md.core.ruler.push("site", ({ tokens, env }) => {
    eachToken(tokens, (token) => {
      const style = token.attrGet("style");
      // Columns of tables: a policy without 'unsafe-inline' forbids the attribute.
      if (style?.startsWith("text-align:")) {
        token.attrs = token.attrs.filter(([name]) => name !== "style");
        token.attrJoin("class", `align-${style.slice("text-align:".length)}`);
      }
      if (token.type !== "link_open") return;
      const label = token.attrGet("aria-label");
      // The anchor in a heading is not part of its text.
      if (label !== null) token.attrSet("aria-label", label.replace(/ \{#[^}]*\}/, ""));
      const link = outside.linkOf(env.relativePath, token.attrGet("href"));
      if (link === undefined) return;
      token.attrSet("href", link);
      // The router of the site knows only its pages.
      token.attrSet("target", "_self");
    });
  });
  // Vue would interpret {{.
  for (const rule of ["text", "code_inline"]) {
    const render = md.renderer.rules[rule];
    md.renderer.rules[rule] = (...args) => withoutBraces(render(...args));
  }
}
