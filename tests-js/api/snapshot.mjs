// The public declarations as they were last agreed on: `node tests-js/api/snapshot.mjs --update` after a change that is meant.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

const emitted = fileURLToPath(new URL("../../npm/frazil/dist/esm/", import.meta.url));
const kept = fileURLToPath(new URL("snapshot/", import.meta.url));
/** Where the package can be entered. */
const ENTRIES = ["index.d.ts", "decode.d.ts", "text.d.ts"];

/** The emitted declarations that a user's compiler reads, by file name. */
export function emittedDeclarations() {
  const files = {};
  const visit = (name) => {
    if (name in files) return;
    files[name] = readFileSync(join(emitted, name), "utf8");
    for (const [, path] of files[name].matchAll(/(?:from|import\() ?"(\.[^"]*)\.js"/g)) {
      visit(`${posix.join(posix.dirname(name), path)}.d.ts`);
    }
  };
  ENTRIES.forEach(visit);
  return files;
}

/** The declarations that are kept, by file name. */
export function keptDeclarations() {
  const names = readdirSync(kept, { recursive: true }).filter((name) => name.endsWith(".d.ts"));
  return Object.fromEntries(names.map((name) => [name.replaceAll("\\", "/"), readFileSync(join(kept, name), "utf8")]));
}

if (process.argv[1] === import.meta.filename && process.argv.includes("--update")) {
  rmSync(kept, { recursive: true, force: true });
  for (const [name, text] of Object.entries(emittedDeclarations())) {
    mkdirSync(dirname(join(kept, name)), { recursive: true });
    writeFileSync(join(kept, name), text);
  }
}
