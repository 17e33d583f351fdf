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
const LAYOUT_ALONE = 'export { Layout } from "frazil/layout"';
const ERRORS = 'export { ClockError, ConfigError, DecodeError, FrazilError, LeaseError } from "frazil"';

// What takes how much, in kB:
//
// `Layout` (goal: 2.5) is the decoder (2), and checking a layout, composing, ranges, plans, arrays and signed columns (2.3). Of it, 0.4 is
// protection against hostile code around the package: every value is read once, and only own properties; layouts cannot change; array
// methods are used as they were when the package was loaded; progress is counted and not read from errors. Refusing options that have
// a class, with its name, and suggesting the nearest name for a misspelt one take 0.2.
//
// The entry of a Worker (goal: 8) contains `Layout`. Sequence starts, `health()` and the clock counters of `stats()` take 0.4; refusing
// `Snowflake.local()` 0.2; the protection against hostile code 0.3 more; stopping the module with a code when its stack overflows, and
// finding its memory without calling a getter of the user, 0.4; the clock, the waits and the node id that come from a lease 0.2; what
// copies of the package share, which is functions and no memory, 0.05; the warning of `health()` about static node ids, which only this
// entry has, 0.15. Code that only hosts with files or with threads that may block run is not in it (0.13), because it is inside the
// condition and not after an early throw.
//
// The module: leases take 5.3 (the state machine of `lease.rs`, its numbers in the page with a check of each, the errors; an answer
// that is read late is judged by when its request was sent), the count of requests 0.25, clocks that come back from ahead and pauses
// after leases that end at once 0.3, segments 2.4 (`segment.rs`), the window in
// which a state may mint 0.2, refusing a caller whose sequence starts elsewhere and never reusing a handle 0.2. One copy of six
// functions instead of one for each caller, no notes for tools, and no panic message that nothing prints, save 0.8.
//
// `frazil/lease` is the driver alone; `frazil` is not counted there. A third of it is errors that say what to do, and code for options
// and errors that the entry has too. Kernel randomness, the warning of a lost record and calls that hear of `close()` at once take
// 0.4; what to call in a Worker 0.17; `preferredNode()`, which a bundle has only if it uses it, 0.35; renewing by calls 0.2; late
// answers 0.2; where a store looked for a record, which layout a scope asks for and what a store waits for 0.2; what its driver shares
// with the one for Workers 0.17; naming an option that is not known without its value, which may be a password, 0.15; what a generator
// that was collected leaves, and a host that may not be asked for its name, 0.1; the reason of a time-out, for stores, and references
// on hosts without weak ones 0.07; the layout to make a record with, and how where no shell reaches the store, 0.04 (0.1 of
// `frazil/workers`, with asking again within a second).
//
// `frazil/segment` is the class and what it asks of the store. The queue of calls that wait, its errors, what a process knows of a tag,
// and segments that are collected, timers that are lost and answers that are over take 0.94 together; having its calls apart from its
// timers and its queue, and the names of its classes, 0.35; suggesting a name only if it has half of the letters 0.1; the reason of a
// time-out 0.03.
//
// `frazil/workers` is what a Worker with a lease uploads beyond one with `frazil`, whose code is not counted (goal: 4; about 10
// without segments and the texts of errors). Half of it is the client, which is `frazil/lease` with another driver; the other half is
// the object: the rules of the store over SQLite, the check of each request and each row, and segments, which the class of the objects
// has as well. A counter that covers every range in its record, and a skip that differs each time, take 0.25; comparing the options of
// later calls by what they mean, with the default of each, 0.1; the refusal of a stub, which has a method of every name, 0.17. Another
// 1.5 are: errors that say what to do in a Worker (0.5), options that are changed and checked by name, at most 16 sources (0.4),
// replies of objects that are none, kinds of bindings, ranges beyond the layout, records and tables that are not the class's own
// (0.6). `durable()` is left out where nothing uses it, as `segmented()` is, but for 0.06 of what both check. What it has in common with
// `frazil` in the sources, such as the errors, is in the bundle once.
//
// `segmented()` beside `leased()`: what a segment hands out, requests for ranges and their answers, and their errors. What all waiting
// requests want, one clock for them, and how long a try has before another one is made beside it take 0.25.
//
// The ceiling of `durable()` takes 0.8 kB of the module: the rule (when the row of the storage is written, and to which time), opening a
// generator by it, and its numbers in the page with a check of each. A bundle with `durable()` is 0.1 kB shorter without the rule.
//
// `frazil/decode`: printing and copying a decoded value show all fields. `frazil/transport`: the check of an ID and the errors take 0.8,
// as in `frazil/decode`, and the four calls 1.0. In that, `readIds` takes 0.2 for values of any depth, with cycles or with one object in
// many places, which a message from outside may have, and for returning as it is what has no ID in it; coded errors of `json` and a
// replacer that no `toJSON` changes take 0.15.
//
// Making the frequent refusal of `next()` where it is found, without the general path, takes 0.06 of the entry.
//
// `decodeMany` into given arrays takes 0.11 of `Layout`: a check of each array. What Node decodes with (`decoding/fast.ts`) is in its file
// alone; in Workers the clock stands still within a turn, so `freshness: "turn"` is an option there and no code. Lists of their full length
// take 0.02 where they are made. What a Worker uploads is 33 bytes larger by all that together: the order of functions in the module saves
// 36, and the start of a process, which is not known there, 35.
//
// `frazil/layout` is `Layout` from the file that `frazil` shares with it. The syntax of that file is not shortened, so that bundlers
// see what they may leave out: 0.13 kB of the errors alone.
const WORKER = 'export * from "frazil"; export { FrazilLeases, leased } from "frazil/workers"';
const NUMBERS = 'export * from "frazil"; export { FrazilLeases, leased, segmented } from "frazil/workers"';
const CEILINGS = [
  ["the workerd entry", 10.4375 * kB, () => bundled('export * from "frazil"', WORKERD)],
  ["its WebAssembly module", 18.21875 * kB, () => gzipped(readFileSync(join(root, "npm/frazil/dist/frazil.wasm")))],
  ["frazil/lease", 9.21875 * kB, () => bundled('export * from "./npm/frazil/dist/lease.mjs"', ["browser"], ["frazil"])],
  [
    "frazil/segment",
    6.90625 * kB,
    () => bundled('export * from "./npm/frazil/dist/segment.mjs"', ["browser"], ["frazil"]),
  ],
  [
    "frazil/workers, beyond frazil",
    16 * kB,
    () => bundled(WORKER, WORKERD) - bundled('export * from "frazil"', WORKERD),
  ],
  ["segmented(), beyond that", 3.875 * kB, () => bundled(NUMBERS, WORKERD) - bundled(WORKER, WORKERD)],
  ["frazil/decode", 2 * kB, () => bundled('export * from "frazil/decode"', ["browser"])],
  ["frazil/text", 2.5 * kB, () => bundled('export * from "frazil/text"', ["browser"])],
  ["frazil/transport", 1.8125 * kB, () => bundled('export * from "frazil/transport"', ["browser"])],
  ["one text form", 2.125 * kB, () => bundled('export { base62 } from "frazil/text"', ["browser"])],
  ["Layout alone", 5.09375 * kB, () => bundled(LAYOUT, ["browser"])],
  ["Layout alone in a Worker", 5.03125 * kB, () => bundled(LAYOUT, WORKERD)],
  ["Layout of frazil/layout", 5 * kB, () => bundled(LAYOUT_ALONE, ["browser"])],
  ["frazil/layout", 5 * kB, () => bundled('export * from "frazil/layout"', WORKERD)],
  ["the errors alone", 0.875 * kB, () => bundled(ERRORS, WORKERD)],
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
    assert.equal(imports(LAYOUT_ALONE), 0);
    assert.equal(imports(ERRORS), 0);
    assert.equal(imports('export { Snowflake } from "frazil"'), 1);
    assert.equal(imports('export * from "frazil"'), 1);
  });
}
