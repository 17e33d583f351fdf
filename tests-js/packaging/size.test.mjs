// Upper limits of the bytes that the package adds to a user's bundle, after esbuild's minifier and `gzip -9`. A limit is raised
// only in the commit that needs it, with the reason.
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

/** A program's bundle, without WebAssembly files, which stay imports. */
function bundleOf(program, conditions, external = []) {
  const { outputFiles } = esbuild.buildSync({
    stdin: { contents: program, resolveDir: root },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    conditions,
    external: ["*.wasm", "*.wasm?module", "cloudflare:workers", ...external],
    tsconfigRaw: "{}", // that of the sources would map frazil to them
    write: false,
    logLevel: "silent",
  });
  return outputFiles[0];
}

/** The size of that bundle. */
const bundled = (...given) => gzipped(bundleOf(...given).contents);

const WORKERD = ["workerd", "worker", "browser"];
const LAYOUT = 'export { Layout } from "frazil"';
const ERRORS = 'export { ClockError, ConfigError, DecodeError, FrazilError, LeaseError } from "frazil"';

// The goal is 8 kB for the entry of a Worker and 2.5 kB for `Layout`. `Layout` adds to the decoder: checking a layout,
// composing, ranges, plans, arrays and signed columns. These take about 2.3 kB, and the entry contains them too. The entry was
// 7.8 kB before sequence starts, `health()` and the clock counters of `stats()`, which take 0.4 kB; refusing
// `Snowflake.local()` in a Worker takes 0.2. The module was 6.3 kB before switching clock ids, keyed starts (SipHash) and those
// two; the window in which a state may mint, which leases need, takes 0.2. Copies of the package share functions and no memory,
// which takes 0.05 kB of the entry.
//
// Protection against hostile code around the package takes 0.4 kB of `Layout` and 0.7 of the entry: every value is read once,
// and only own properties; layouts cannot change; array methods are used as they were when the package was loaded; progress is
// counted and not read from errors; a misspelt name gets the nearest one as a suggestion. `frazil/decode` is at its 2 kB,
// because printing and copying a decoded value show all fields.
//
// Stopping the module with a code when its stack overflows, and finding its memory without calling a getter of the user, take
// 0.4 kB of the entry. Refusing a caller whose sequence starts elsewhere, and never reusing a handle, take 0.2 kB of the
// module.
//
// Refusing options that have a class, with its name, and suggesting the nearest name for a part of a node id take 0.2 kB of
// `Layout` and of the entry.
//
// Leases take 5.0 kB of the module: the state machine of `lease.rs` (what to ask, what an answer means), its numbers in the page
// with a check of each, and the errors. They take 0.2 kB of the entry: the clock, the waits and the node id of a generator come from
// its lease if it has one. The driver is in `frazil/lease` alone, with errors that say what to do (a third of it) and the
// same code for options and errors as the entry, which the two do not share. `frazil` itself is not counted there. Asking the
// kernel for random numbers, the warning of a lost record, and calls that hear of `close()` at once take 0.4 kB of it. Renewing by
// calls takes 0.2 kB of it and `preferredNode()`, which a bundle has only if it uses it, 0.35. An answer that is read late, after a
// stop of the process, is judged by when its request was sent: 0.3 kB of the module and 0.2 of `frazil/lease`. Freeing what a
// generator that was collected leaves, and answering for a host that may not be asked for its name, take 0.1 kB of it. Saying where a
// store looked for a record that it does not have, which layout a scope asks for, and what a store waits for take 0.2 kB of it. Naming
// an option that is not known without its value, which may be a password, takes 0.15 kB of it.
//
// Segments take 2.4 kB of the module: the state machine of `segment.rs`, its numbers in the page with a check of each, and the errors.
// The class and what it asks of the store are in `frazil/segment` alone.
// There these take 0.94 kB together: a queue of the calls that wait, whose cost does not depend on how many there are, which fails none
// whose numbers are there; errors that say what is missing, and what a store answered, with the line of the caller; what a process
// knows of a tag, for later segments and copies of the package; segments that are collected unclosed, timers that are lost, and
// answers to attempts that are over.
//
// That the core counts its requests, and decides by number which outcome counts where several are under way, takes 0.25 kB of the
// module. That the driver of `frazil/lease` shares what outcomes mean with the one for Workers, and has it said whether copies of the
// holder are made, takes 0.17 kB of it.
//
// `frazil/workers` is what a Worker with a lease uploads beyond one with `frazil`, whose code is not counted: 14 kB. Half of it is
// the client, which is `frazil/lease` with another driver: what answers mean, and errors that say what to do. The other half is the
// object: the rules of the store over SQLite, the check of each request and each row, and segments, which the class of the objects has
// as well. The goal was 4 kB; without the segments and the texts of the errors it would be about 10. That a counter covers every range
// in its record, and that a skip differs each time, take 0.25 kB of it. `durable()` is left out where nothing uses it.
//
// Suggesting a name only if it has half of the letters of the one that was given takes 0.1 kB of `frazil/segment`.
//
// Of `frazil/transport` 0.8 kB are the check of an ID and the errors, as in `frazil/decode`. The four calls take 0.6.
// One copy of six functions instead of one for each caller, no notes for tools, and no panic message that nothing prints, take
// 0.8 kB off the module. Code that only hosts with files or with threads that may block run takes 0.13 kB off the entry, because it
// is inside the condition and not after an early throw.
const WORKER = 'export * from "frazil"; export { FrazilLeases, leased } from "frazil/workers"';
const CEILINGS = [
  ["the workerd entry", 10.0625 * kB, () => bundled('export * from "frazil"', WORKERD)],
  ["its WebAssembly module", 17.25 * kB, () => gzipped(readFileSync(join(root, "npm/frazil/dist/frazil.wasm")))],
  ["frazil/lease", 8.875 * kB, () => bundled('export * from "./npm/frazil/dist/lease.mjs"', ["browser"], ["frazil"])],
  [
    "frazil/segment",
    6.4375 * kB,
    () => bundled('export * from "./npm/frazil/dist/segment.mjs"', ["browser"], ["frazil"]),
  ],
  [
    "frazil/workers, beyond frazil",
    14.3125 * kB,
    () => bundled(WORKER, WORKERD) - bundled('export * from "frazil"', WORKERD),
  ],
  ["frazil/decode", 2 * kB, () => bundled('export * from "frazil/decode"', ["browser"])],
  ["frazil/text", 2.5 * kB, () => bundled('export * from "frazil/text"', ["browser"])],
  ["frazil/transport", 1.46875 * kB, () => bundled('export * from "frazil/transport"', ["browser"])],
  ["one text form", 2.125 * kB, () => bundled('export { base62 } from "frazil/text"', ["browser"])],
  ["Layout alone", 4.9375 * kB, () => bundled(LAYOUT, ["browser"])],
  ["Layout alone in a Worker", 4.9375 * kB, () => bundled(LAYOUT, WORKERD)],
  ["the errors alone", kB, () => bundled(ERRORS, WORKERD)],
];

for (const [name, ceiling, measure] of CEILINGS) {
  test(`${name} is at most ${ceiling} bytes gzipped`, (context) => {
    const size = measure();
    context.diagnostic(`${name}: ${size} of ${ceiling} bytes`);
    assert.ok(size <= ceiling, `${size} bytes, ${size - ceiling} too many`);
  });
}

for (const conditions of [WORKERD, ["edge-light"]]) {
  test(`${conditions[0]}: a bundle imports the WebAssembly module if it mints, and only then`, () => {
    const imports = (program) => bundleOf(program, conditions).text.match(/\bimport\b[^;]*\.wasm/g)?.length ?? 0;
    assert.equal(imports(LAYOUT), 0);
    assert.equal(imports(ERRORS), 0);
    assert.equal(imports('export { Snowflake } from "frazil"'), 1);
    assert.equal(imports('export * from "frazil"'), 1);
  });
}
