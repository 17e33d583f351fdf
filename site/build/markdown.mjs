// What the site needs of the pages and GitHub does not.

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

/** What the site adds to pages, after their first paragraph. `exported`: the pages of the entries of the package. */
const additions = (exported) => ({
  "index.md": DECODER,
  "reference/api.md": `Every export: ${exported.map(({ specifier, page }) => `[\`${specifier}\`](api/${page})`).join(", ")}.`,
});

export function editMarkdown(md, outside, exported) {
  const added = additions(exported);
  md.core.ruler.before("normalize", "additions", (state) => {
    const text = added[state.env.relativePath];
    if (text !== undefined) state.src = state.src.replace(/^(# .*\n\n[\s\S]*?\n\n)/, `$1${text}\n\n`);
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
