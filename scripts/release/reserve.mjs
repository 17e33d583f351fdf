// `npm run reserve -- FOLDER`: writes packages of version 0.0.0 that only hold the names of those that are released, to be published
// once by hand. docs/internals/releasing.md has the steps.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { crates, packages, readJson } from "../packages.mjs";
import { root } from "../shell.mjs";

const VERSION = "0.0.0";
const { positionals } = parseArgs({ allowPositionals: true });
if (positionals.length !== 1) throw new Error("usage: npm run reserve -- FOLDER");
const folder = resolve(positionals[0]);
const { license, repository } = readJson(`${root}npm/frazil/package.json`);

/** Writes files into a folder of the folder. */
function write(name, files) {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, file, ".."), { recursive: true });
    writeFileSync(join(folder, name, file), text);
  }
}

const readme = (name) => `# ${name}\n\nThis version only holds the name. The first release of frazil follows.\n`;
const commands = [];
for (const { manifest } of packages()) {
  const { name, description } = manifest;
  const held = { name, version: VERSION, description, license, ...(repository && { repository }) };
  write(`npm/${name}`, { "package.json": `${JSON.stringify(held, null, 2)}\n`, "README.md": readme(name) });
  commands.push(`npm publish --access public ${join(folder, "npm", name)}`);
  commands.push(`npm deprecate ${name}@${VERSION} "holds the name: install a later version"`);
}
for (const { name } of crates().filter(({ isPublished }) => isPublished)) {
  const manifest = `[package]\nname = "${name}"\nversion = "${VERSION}"\nedition = "2024"\nlicense = "${license}"\ndescription = "Holds the name for a later version"\nreadme = "README.md"\n\n[workspace]\n`;
  write(`crates/${name}`, { "Cargo.toml": manifest, "src/lib.rs": "", "README.md": readme(name) });
  const path = join(folder, "crates", name);
  commands.push(`cargo publish --manifest-path ${join(path, "Cargo.toml")}`, `cargo yank ${name}@${VERSION}`);
}
process.stdout.write(
  `Written to ${folder}. Publish them with a second factor, then deprecate them:\n\n${commands.join("\n")}\n`,
);
