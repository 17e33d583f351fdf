// `npm run release:crates [-- --dry-run] [--index URL]`: publishes the crates of this checkout that the registry does not have yet, so
// that the same command continues after a failure: `cargo publish` of several crates ends at the first one that is there.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { run } from "../shell.mjs";
import { packCrates } from "./crates.mjs";
import { versionOf } from "./versions.mjs";

/** The index of crates.io over HTTP: https://doc.rust-lang.org/cargo/reference/registry-index.html */
const CRATES_IO = "https://index.crates.io";

/** Where the index has a crate. The names of ours have four letters or more. */
const pathOf = (name) => `${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`;

/** Whether a version of a crate is published. Throws if it is, with another content. */
async function isPublished({ name, archive }, version, index) {
  const url = `${index}/${pathOf(name)}`;
  const response = await fetch(url);
  if (response.status === 404) return false;
  if (!response.ok)
    throw new Error(`${url} answers ${response.status}: whether ${name} ${version} is published is not known`);
  const versions = (await response.text())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const found = versions.find(({ vers }) => vers === version);
  if (found === undefined) return false;
  const cksum = createHash("sha256").update(readFileSync(archive)).digest("hex");
  if (found.cksum !== cksum)
    throw new Error(
      `${name} ${version} is published with the sha256 ${found.cksum}, and is ${cksum} here: must be another version`,
    );
  return true;
}

const { values } = parseArgs({
  options: { "dry-run": { type: "boolean" }, index: { type: "string", default: CRATES_IO } },
});
try {
  const version = versionOf();
  const missing = [];
  for (const crate of packCrates()) {
    const isThere = await isPublished(crate, version, values.index);
    process.stdout.write(`${crate.name} ${version}: ${isThere ? "published before" : "to be published"}\n`);
    if (!isThere) missing.push(crate.name);
  }
  if (!values["dry-run"] && missing.length > 0)
    run("cargo", ["publish", "--locked", ...missing.flatMap((name) => ["-p", name])]);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
