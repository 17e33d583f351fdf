// What the site needs of the pages and GitHub does not.

/** The decoder of the first page. Its content is shown where the element cannot be: without JavaScript. */
const DECODER = `<h2 id="decode-an-id" tabindex="-1">Decode an ID</h2>
<frazil-decoder><p>The decoder needs JavaScript. In a terminal: <code>npx frazil decode ID</code></p></frazil-decoder>
`;

const withoutBraces = (html) => html.replaceAll("{{", "&#123;&#123;");

/** Calls a function for each token, those within others too. */
function eachToken(tokens, visit) {
  for (const token of tokens) {
    visit(token);
    if (token.children) eachToken(token.children, visit);
  }
}

export function editMarkdown(md, outside) {
  md.core.ruler.push("site", ({ tokens, env, Token }) => {
    eachToken(tokens, (token) => {
      const style = token.attrGet("style");
      // Columns of tables: a policy without 'unsafe-inline' forbids the attribute.
      if (style?.startsWith("text-align:")) {
        token.attrs = token.attrs.filter(([name]) => name !== "style");
        token.attrJoin("class", `align-${style.slice("text-align:".length)}`);
      }
      if (token.type !== "link_open") return;
      const link = outside.linkOf(env.relativePath, token.attrGet("href"));
      if (link === undefined) return;
      token.attrSet("href", link);
      // The router of the site only knows its pages.
      token.attrSet("target", "_self");
    });
    if (env.relativePath !== "index.md") return;
    const decoder = new Token("html_block", "", 0);
    decoder.content = DECODER;
    const [first] = [...tokens.keys()].filter((at) => tokens[at].type === "paragraph_close" && tokens[at].level === 0);
    tokens.splice(first + 1, 0, decoder);
  });
  // Vue would take {{ for its own.
  for (const rule of ["text", "code_inline"]) {
    const render = md.renderer.rules[rule];
    md.renderer.rules[rule] = (...args) => withoutBraces(render(...args));
  }
}
