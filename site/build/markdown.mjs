// What the site needs of the pages and GitHub does not.
import { withCodeGroups } from "./code-groups.mjs";

/** The decoder of the first page. Its content is shown where the element cannot be: without JavaScript. */
const DECODER = `## Decode an ID

<frazil-decoder><p>The decoder needs JavaScript. In a terminal: <code>npx frazil decode ID</code></p></frazil-decoder>`;

const withoutBraces = (html) => html.replaceAll("{{", "&#123;&#123;");

/** Calls a function for each token, those within others too. */
function eachToken(tokens, visit) {
  for (const token of tokens) {
    visit(token);
    if (token.children) eachToken(token.children, visit);
  }
}

/** What the site adds to pages, each before a text of the page. `exported`: the pages of the entries of the package. */
const additions = (exported) => ({
  "index.md": ["\n## Pages\n", DECODER],
  "reference/api.md": [
    "\n`import {",
    `Every export: ${exported.map(({ specifier, page }) => `[\`${specifier}\`](api/${page})`).join(", ")}.`,
  ],
});

function withAddition(text, page, [before, added]) {
  if (!text.includes(before)) throw new Error(`docs/${page} has no ${before.trim()}, before which the site has more`);
  return text.replace(before, `\n${added}\n${before}`);
}

export function editMarkdown(md, outside, exported) {
  const added = additions(exported);
  md.core.ruler.before("normalize", "additions", (state) => {
    const page = state.env.relativePath;
    state.src = withCodeGroups(page in added ? withAddition(state.src, page, added[page]) : state.src);
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
      // The anchor that a heading names is no part of it.
      if (label !== null) token.attrSet("aria-label", label.replace(/ \{#[^}]*\}/, ""));
      const link = outside.linkOf(env.relativePath, token.attrGet("href"));
      if (link === undefined) return;
      token.attrSet("href", link);
      // The router of the site only knows its pages.
      token.attrSet("target", "_self");
    });
  });
  // Vue would take {{ for its own.
  for (const rule of ["text", "code_inline"]) {
    const render = md.renderer.rules[rule];
    md.renderer.rules[rule] = (...args) => withoutBraces(render(...args));
  }
}
