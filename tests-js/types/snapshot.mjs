// The committed snapshot of the public declarations, without their comments.
// After an intended change: `node tests-js/types/snapshot.mjs --update`.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

const emitted = fileURLToPath(new URL("../../npm/frazil/dist/types/", import.meta.url));
const committed = fileURLToPath(new URL("snapshot/", import.meta.url));
/** The declarations of the entries in the manifest. */
const manifest = JSON.parse(readFileSync(new URL("../../npm/frazil/package.json", import.meta.url), "utf8"));
export const ENTRIES = Object.keys(manifest.exports)
  .filter((path) => !/\.(json|wasm)$/.test(path))
  .map((path) => (path === "." ? "index.d.ts" : `${path.slice(2)}/index.d.ts`));

/** The emitted declarations that the entries need, by file name. */
export function emittedDeclarations() {
  const files = {};
  const visit = (name) => {
    if (name in files) return;
    files[name] = readFileSync(join(emitted, name), "utf8").replace(/^ *\/\*\*[\s\S]*?\*\/\n/gm, "");
    for (const [, path] of files[name].matchAll(/(?:from|import\() ?"(\.[^"]*)\.js"/g)) {
      visit(`${posix.join(posix.dirname(name), path)}.d.ts`);
    }
  };
  ENTRIES.forEach(visit);
  return files;
}

/** The declarations of the snapshot, by file name. */
export function committedDeclarations() {
  const names = readdirSync(committed, { recursive: true }).filter((name) => name.endsWith(".d.ts"));
  return Object.fromEntries(
    names.map((name) => [name.replaceAll("\\", "/"), readFileSync(join(committed, name), "utf8")]),
  );
}

if (process.argv[1] === import.meta.filename && process.argv.includes("--update")) {
  // Read before anything is deleted: without a build there is nothing to read.
  const declarations = Object.entries(emittedDeclarations());
  rmSync(committed, { recursive: true, force: true });
  for (const [name, text] of declarations) {
    mkdirSync(dirname(join(committed, name)), { recursive: true });
    writeFileSync(join(committed, name), text);
  }
}
