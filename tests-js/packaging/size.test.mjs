// Ceilings of what a user's bundle grows by: bytes after esbuild's minifier and `gzip -9`. Raised only in the commit that
// needs it, with the reason.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const root = fileURLToPath(new URL("../../", import.meta.url));
const kB = 1024;
const gzipped = (bytes) => gzipSync(bytes, { level: 9 }).length;

/** The size of a program's bundle, WebAssembly left out where it is a module of its own. */
function bundled(program, conditions) {
  const { outputFiles } = esbuild.buildSync({
    stdin: { contents: program, resolveDir: root },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    conditions,
    external: ["*.wasm"],
    write: false,
    logLevel: "silent",
  });
  return gzipped(outputFiles[0].contents);
}

// The aim is 8 kB for the Worker's entry and 2.5 kB for `Layout`. `Layout` is all that the decoder is not: checking a layout,
// composing, ranges, plans, arrays, signed columns; these are some 2.3 kB themselves, and the entry carries them too. The entry
// was 7.8 kB without the start of the sequence, `health()` and what `stats()` tells of the clock, which take 0.4; that a Worker
// has no `Snowflake.local()`, and says so, takes 0.2. The module was 6.3 kB without clock ids that switch, keyed starts (SipHash) and
// the same two; the window in which a state may mint, which leases need there, takes 0.2.
// That copies of the package share functions, and no memory, takes the entry 0.05.
//
// What hostile surroundings may not change takes 0.4 kB of `Layout` and 0.7 of the entry: values read once and from objects
// themselves, layouts that cannot change, methods of arrays as they were when this was loaded, progress that is counted and not
// read from errors, and for a misspelt name anywhere the nearest one. `frazil/decode` is at its 2 kB: printing and copying show
// all of what was decoded.
//
// That a stack which overflows inside the module stops it with a code, and that no getter of the user's tells where its memory is,
// takes 0.4 kB of the entry. That a caller whose sequence starts elsewhere is refused, and that no handle is given twice, takes
// 0.2 kB of the module.
//
// That options with a class are refused, by the name of the class, and that a part of a node id gets the nearest name, takes 0.2 kB
// of `Layout` and of the entry.
const CEILINGS = [
  ["the workerd entry", 9.9375 * kB, () => bundled('export * from "frazil"', ["workerd", "worker", "browser"])],
  ["its WebAssembly module", 10.125 * kB, () => gzipped(readFileSync(join(root, "npm/frazil/dist/frazil.wasm")))],
  ["frazil/decode", 2 * kB, () => bundled('export * from "frazil/decode"', ["browser"])],
  ["frazil/text", 2.5 * kB, () => bundled('export * from "frazil/text"', ["browser"])],
  ["one text form", 2.125 * kB, () => bundled('export { base62 } from "frazil/text"', ["browser"])],
  ["Layout alone", 4.9375 * kB, () => bundled('export { Layout } from "frazil"', ["browser"])],
];

for (const [name, ceiling, measure] of CEILINGS) {
  test(`${name} is at most ${ceiling} bytes gzipped`, (context) => {
    const size = measure();
    context.diagnostic(`${name}: ${size} of ${ceiling} bytes`);
    assert.ok(size <= ceiling, `${size} bytes, ${size - ceiling} too many`);
  });
}
