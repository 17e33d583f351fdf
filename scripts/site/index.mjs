// The site. Its packages have their own folder.
import { installPackages } from "../setup.mjs";
import { root, run, step } from "../shell.mjs";

const folder = `${root}site/`;
const vitepress = (command, options) =>
  run(process.execPath, [`${folder}node_modules/vitepress/bin/vitepress.js`, command, folder], options);

// VitePress writes a bar of progress, and what it asks for is installed without scripts: those of esbuild only check it.
const install = () => installPackages(folder, "installing what builds the site", ["--ignore-scripts"]);

export async function serveSite() {
  await install();
  vitepress("dev");
}

/** Writes the site to `site/dist`. */
export async function buildSite() {
  await install();
  await step("building the site", () => vitepress("build", { stdio: ["ignore", "ignore", "inherit"] }));
}
