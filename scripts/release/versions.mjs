// The version of everything that is published. It is one, and it stands in many files: each has a place here.
//
//   npm run version-is              prints the version; fails if a place has another
//   npm run version-is -- 0.2.0     writes a version to every place
//   npm run version-is -- --tag v0.2.0   fails if that is not the tag of the version
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { crates, packages } from "../packages.mjs";
import { root } from "../shell.mjs";

/** A version of Semantic Versioning. Build metadata is left out: npm ignores it, so two versions would be one there. */
const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9a-z]+(\.[0-9a-z]+)*)?$/;

const escaped = (text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * The places of a checkout: `file`, `what` it is there, and a pattern (`find`) whose group `version` is the version. A place has to
 * be there exactly once.
 */
function placesOf(checkout) {
  const npm = packages(checkout);
  const members = crates(checkout);
  const inherits = members.filter(({ text }) => /^version\.workspace = true$/m.test(text));
  const published = members.filter(({ isPublished }) => isPublished);
  const platformPackages = npm.filter(({ isPlatform }) => isPlatform).map(({ manifest }) => manifest.name);
  const quoted = (before) => new RegExp(`(?<=${before}")(?<version>[^"]*)(?=")`, "gm");
  const inLock = (name) => quoted(`^name = "${name}"\nversion = `);
  // Between the braces of a package of the lock file: everything in them is indented by six spaces or more.
  const inNpmLock = (folder, key) => quoted(`^    "npm/${folder}": \\{\n(?:      .*\n)*? +"${key}": `);
  return [
    { file: "Cargo.toml", what: "workspace.package", find: quoted("^\\[workspace\\.package\\]\nversion = ") },
    ...published.map(({ name }) => ({
      file: "Cargo.toml",
      what: `the dependency ${name}`,
      find: quoted(`^${name} = \\{ path = "[^"]*", version = `),
    })),
    ...inherits.map(({ name }) => ({ file: "Cargo.lock", what: name, find: inLock(name) })),
    { file: "crates/core/fuzz/Cargo.lock", what: "frazil", find: inLock("frazil") },
    { file: "crates/core/bench/Cargo.lock", what: "frazil", find: inLock("frazil") },
    { file: "crates/core/bench/Cargo.lock", what: "frazil-local", find: inLock("frazil-local") },
    ...npm.map(({ folder }) => ({
      file: `npm/${folder}/package.json`,
      what: "version",
      find: quoted('^  "version": '),
    })),
    ...npm.map(({ folder }) => ({
      file: "package-lock.json",
      what: `npm/${folder}`,
      find: inNpmLock(folder, "version"),
    })),
    ...platformPackages.flatMap((name) => [
      {
        file: "npm/frazil/package.json",
        what: `optionalDependencies: ${name}`,
        find: quoted(`^    "${escaped(name)}": `),
      },
      {
        file: "package-lock.json",
        what: `optionalDependencies: ${name}`,
        find: inNpmLock("frazil", escaped(name)),
      },
    ]),
    ...["url-shortener", "typed-api"].map((name) => ({
      file: `examples/${name}/package.json`,
      what: "the dependency frazil",
      find: quoted('^    "frazil": '),
      caret: true,
    })),
  ];
}

/** Every place of a checkout with the version that it has. Throws if a place is missing. */
export function versionsOf(checkout = root) {
  return placesOf(checkout).map(({ file, what, find, caret }) => {
    const path = join(checkout, file);
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    const found = [...text.matchAll(find)].map(({ groups }) => groups.version);
    if (found.length !== 1) throw new Error(`${file}: ${what} has ${found.length} versions: must have one`);
    return { file, what, version: caret ? found[0].replace(/^\^/, "") : found[0] };
  });
}

/** The version of a checkout. Throws if a place has another version than the workspace of Rust. */
export function versionOf(checkout = root) {
  const [{ version }, ...others] = versionsOf(checkout);
  const different = others.filter((other) => other.version !== version);
  if (different.length === 0) return version;
  const list = different.map(({ file, what, version }) => `\n  ${file}: ${what} is ${version}`);
  throw new Error(`the version is ${version} in Cargo.toml, but not everywhere:${list.join("")}`);
}

/** Writes a version to every place. */
export function writeVersion(version, checkout = root) {
  if (!VERSION.test(version))
    throw new Error(`the version is ${JSON.stringify(version)}: must be like 1.2.3 or 1.2.3-beta.1`);
  versionsOf(checkout); // nothing is written if a place is missing
  for (const { file, find, caret } of placesOf(checkout)) {
    const path = join(checkout, file);
    writeFileSync(path, readFileSync(path, "utf8").replace(find, caret ? `^${version}` : version));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { tag: { type: "string" } } });
  if (positionals.length > 1) throw new Error(`${positionals.length} versions were given: must be one`);
  if (positionals.length === 1) writeVersion(positionals[0]);
  const version = versionOf();
  if (values.tag !== undefined && values.tag !== `v${version}`)
    throw new Error(`the tag is ${values.tag}: must be v${version}, the version of this checkout`);
  process.stdout.write(`${version}, in ${versionsOf().length} places\n`);
}
