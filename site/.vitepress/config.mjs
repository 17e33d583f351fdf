// The site: the pages of docs/, as VitePress builds them. It loads nothing from other origins, and has no inline script or style, so it can
// be served under `default-src 'self'`.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { codeColours } from "../build/code-colours.mjs";
import { dataUrlsToFiles, InlineScripts } from "../build/content-policy.mjs";
import { writeExports } from "../build/exports.mjs";
import { writeTextsForAssistants } from "../build/llms.mjs";
import { editMarkdown } from "../build/markdown.mjs";
import { chapters, isRecord, sidebar } from "../build/navigation.mjs";
import { OutsideFiles } from "../build/outside-files.mjs";
import { sectionsOf } from "../build/search.mjs";

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const base = process.env.SITE_BASE || "/";
// As on GitHub, so that a link works on both. tests-js/pages/links.mjs checks them.
const slugify = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
    .replaceAll(" ", "-");

/** Without JavaScript nothing opens the menu of a narrow page. */
const NO_SCRIPT = `<noscript><p class="no-script">Search and the decoder need JavaScript. The pages do not: <a href="${base}">all pages</a>.</p></noscript>`;

// Before the navigation, which lists the existing pages.
const exported = writeExports();
const outside = new OutsideFiles(base);
const scripts = new InlineScripts(base);
// The colours are known once all pages are built. While they are served, they are attributes.
const colours = process.argv.includes("build") ? codeColours() : undefined;

export default defineConfig({
  title: "Frazil",
  description: "Snowflake IDs for Node, Bun, Deno, Cloudflare Workers and browsers",
  lang: "en",
  base,
  srcDir: path("../docs"),
  outDir: path("dist"),
  cacheDir: path("../.cache/vitepress"),
  metaChunk: true,
  // It would add an inline style for a moment.
  appearance: { disableTransition: false },
  head: [
    ["link", { rel: "icon", href: `${base}icon.svg`, type: "image/svg+xml" }],
    ["noscript", {}, `<link rel="stylesheet" href="${base}no-script.css">`],
    ...(colours === undefined ? [] : [["link", { rel: "stylesheet", href: `${base}assets/code.css` }]]),
  ],
  markdown: {
    anchor: { slugify },
    // Of the usual themes, axe finds the contrast of keywords and comments too low.
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config: (md) => editMarkdown(md, outside, exported),
    codeTransformers: colours === undefined ? [] : [colours.transformer],
  },
  vue: { template: { compilerOptions: { isCustomElement: (tag) => tag === "frazil-decoder" } } },
  vite: {
    publicDir: path("public"),
    // The compiled pages import it from a place where it is not installed.
    resolve: {
      alias: { "vue/server-renderer": path("node_modules/vue/server-renderer"), vue: path("node_modules/vue") },
    },
    // The package is a link to this repository, and is built before the site.
    server: { fs: { allow: [path("..")] } },
    plugins: [
      dataUrlsToFiles(base),
      outside.server(),
      {
        // Vite looks for them from docs/, does not find them, and warns. They work as they are.
        name: "vitepress-dependencies",
        configResolved({ optimizeDeps }) {
          optimizeDeps.include = optimizeDeps.include.filter((name) => !name.startsWith("vitepress > "));
        },
      },
    ],
    build: { assetsInlineLimit: 0 },
  },
  transformHtml: (html) => scripts.moved(html).replace("<body>", `<body>${NO_SCRIPT}`),
  buildEnd({ outDir }) {
    scripts.write(outDir);
    writeTextsForAssistants(outDir, base);
    outside.write(outDir);
    colours?.write(outDir);
  },
  themeConfig: {
    nav: chapters(),
    sidebar: sidebar(),
    outline: [2, 3],
    search: {
      provider: "local",
      options: {
        // Its name is then what it shows, with the key.
        translations: { button: { buttonText: "Search", buttonAriaLabel: "" } },
        // Records of runs have every word of the pages, in tables of numbers.
        _render: (source, env, md) => (isRecord(env.relativePath) ? "" : md.render(source, env)),
        miniSearch: {
          _splitIntoSections: sectionsOf,
          searchOptions: { fuzzy: 0.15, prefix: true, boost: { title: 4, titles: 2, text: 1 } },
        },
      },
    },
  },
});
