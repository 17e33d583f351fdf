// The site: VitePress, which has its own folder of packages, writes docs/ as HTML.
import { root, run, step } from "../shell.mjs";
import { siteTools } from "../tools.mjs";

const folder = `${root}site/`;
const vitepress = (command, options) =>
  run(process.execPath, [`${folder}node_modules/vitepress/bin/vitepress.js`, command, folder], options);

/** Serves the site until it is ended, and builds each page again when it changes. */
export async function serveSite() {
  await siteTools.install();
  vitepress("dev");
}

/** Writes the site to `site/dist`. */
export async function buildSite() {
  await siteTools.install();
  await step("building the site", () => vitepress("build", { stdio: ["ignore", "ignore", "inherit"] }));
}
