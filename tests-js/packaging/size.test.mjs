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
// `Layout` (goal: 2.5) is the decoder (2.3), and checking a layout, composing, ranges, plans, arrays, signed columns (2.3). Of it, 0.4 is
// protection against hostile code around the package: every value is read once, and only own properties; layouts cannot change; array
// methods are used as they were when the package was loaded; progress is counted and not read from errors. Refusing options that have
// a class, with its name, and suggesting the nearest name for a misspelt one take 0.2. `range`, with bounds beyond the layout and its two
// refusals, takes 0.17.
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
// `frazil/text`: writing a text by pairs of digits and calls of `fromCharCode` with lists of 11 and 13 arguments takes 0.5; `encodeInto`,
// with its check of both arrays and its copies within runs of near IDs, 0.7. Each form has both. All forms and alphabets of one's own
// take 0.63 beyond one form.
//
// Making the frequent refusal of `next()` without the general path takes 0.06 of the entry, and none for `tryNext()` 0.01. The code of an error in a private field, and
// in the message behind a Proxy, saves a twentieth of the time of a refusal and takes 0.01 to 0.02 of everything that has errors.
//
// `decodeMany` into given arrays takes 0.11 of `Layout`: a check of each array. What Node decodes with (`decoding/fast.ts`) is in its file
// alone; in Workers the clock stands still within a turn, so `freshness: "turn"` is an option there and no code. Lists of their full length
// take 0.02 where they are made. The order of `wasm-opt`'s passes saves 0.11 of the module, in which blocks are written by four.
//
// Messages that say what to do about the mistakes that everybody makes (`tests-js/api/mistakes.txt`) take 0.5 of `Layout`: what an object
// is that was passed (0.15), names of options in other packages (0.1), a layout's nearest name, times that are text, seconds or no date.
// Of the entry, 0.4 more: clocks that differ by hours and epochs in the future, with both times, and node ids from environment variables.
// `tryNext()` and `nextNumber()` take 0.2. Of the module, comparing the epoch with the process takes 0.15. `code` is printed once, being
// no own property of an error, and loggers find it all the same: 0.05 of everything that has errors, and 0.03 is what to do about an ID
// that JSON rounded. Of `frazil/lease`, node ids from environment variables take 0.2. Of it and of `frazil/segment`, what an object is
// takes 0.14, names of options in other packages 0.08, and the place of `code` 0.04.
//
// Refusing bounds of `range` in seconds, which gave an empty range, and naming the options to who passes none take 0.08 of `Layout`. Of
// the entry, 0.25 more: where node ids come from on each host, when the time of a layout ends and what to do then, or before its epoch,
// arrays that are lists, and counts and node ids that are text or a `bigint`.
// Errors that print no secret and have no huge text, and are recognised whatever a stranger passes, take 0.06 of everything that has
// errors: objects as values that are not enumerable, names and texts that are cut between characters, no digits of huge numbers. Naming
// an option that is not known without its value takes 0.06 of `Layout`. Of the entry, 0.1 more: epochs that were accepted before they
// came, the age of the process from a clock that is never set, what to do after a clock that was ahead, and printing Proxies.
//
// What to do about a row or an array in the place of an ID takes 0.06 of everything that reads IDs, `frazil/decode` and `frazil/transport`
// with it; fractions of seconds, and what an array is that `decodeMany` refuses, 0.01 of `Layout`; an epoch in seconds 0.03 of the entry.
// Reading a list once, by a length that no class of its own changes, and refusing it with a code whatever it is, takes 0.1 of
// `frazil/text`. `frazil/workers` is 0.3 shorter since it imports more of what `frazil` has (`src/shared.ts`), and the entry 0.06, which
// had some of that twice.
//
// Messages without characters that a terminal acts on or hides, such as U+009B, take 0.04 of everything that has errors.
//
// What newcomers met takes 0.13 of the entry: a static node id in a Worker is told on the console too, clocks in seconds and clocks that
// fake timers have replaced are named, and nextNumber() names the layout. Of `frazil/workers`, 0.07: a call that the store refuses for
// good decides nothing for others. Windows and epochs in seconds take 0.06 of `frazil/lease`. Parts that are frozen take 0.01 of `Layout`
// and of `frazil/decode`.
//
// What the next newcomers met takes 0.07 of the entry, of which 0.01 is in `Layout`: what a list is in the place of an object, a number in
// the place of parts, a `Date` in the place of a time, NaN where a variable is not set, and pages beside isolates. Of `frazil/lease`, 0.18:
// a process that takes a lease in each request is told that they are its own, a Worker that does at the first one, and one with the store's
// time is not told to take it. Of `frazil/workers`, 0.04: the place of `ctx`.
//
// Base 16 and 32 by the bits of the ID take 0.14 of `frazil/text`, for 1.15 and 1.25 times `Date.now()` in the place of 1.57 and 2.74.
//
// `frazil/layout` is `Layout` from the file that `frazil` shares with it. The syntax of that file is not shortened, so that bundlers
// see what they may leave out: 0.13 kB of the errors alone.
const WORKER = 'export * from "frazil"; export { FrazilLeases, leased } from "frazil/workers"';
const NUMBERS = 'export * from "frazil"; export { FrazilLeases, leased, segmented } from "frazil/workers"';
const CEILINGS = [
  ["the workerd entry", 12.859375 * kB, () => bundled('export * from "frazil"', WORKERD)],
  ["its WebAssembly module", 18.375 * kB, () => gzipped(readFileSync(join(root, "npm/frazil/dist/frazil.wasm")))],
  [
    "frazil/lease",
    10.234375 * kB,
    () => bundled('export * from "./npm/frazil/dist/lease.mjs"', ["browser"], ["frazil"]),
  ],
  [
    "frazil/segment",
    7.40625 * kB,
    () => bundled('export * from "./npm/frazil/dist/segment.mjs"', ["browser"], ["frazil"]),
  ],
  [
    "frazil/workers, beyond frazil",
    16.28125 * kB,
    () => bundled(WORKER, WORKERD) - bundled('export * from "frazil"', WORKERD),
  ],
  ["segmented(), beyond that", 3.84375 * kB, () => bundled(NUMBERS, WORKERD) - bundled(WORKER, WORKERD)],
  ["frazil/decode", 2.328125 * kB, () => bundled('export * from "frazil/decode"', ["browser"])],
  ["frazil/text", 4.53125 * kB, () => bundled('export * from "frazil/text"', ["browser"])],
  ["frazil/transport", 2.078125 * kB, () => bundled('export * from "frazil/transport"', ["browser"])],
  ["one text form", 3.890625 * kB, () => bundled('export { base62 } from "frazil/text"', ["browser"])],
  ["Layout alone", 6.203125 * kB, () => bundled(LAYOUT, ["browser"])],
  ["Layout alone in a Worker", 6.125 * kB, () => bundled(LAYOUT, WORKERD)],
  ["Layout of frazil/layout", 6.12 * kB, () => bundled(LAYOUT_ALONE, ["browser"])],
  ["frazil/layout", 6.140625 * kB, () => bundled('export * from "frazil/layout"', WORKERD)],
  ["the errors alone", 1 * kB, () => bundled(ERRORS, WORKERD)],
];

for (const [name, ceiling, measure] of CEILINGS) {
  test(`${name} is at most ${ceiling} bytes gzipped`, (context) => {
    const size = measure();
    context.diagnostic(`${name}: ${size} of ${ceiling} bytes`);
    assert.ok(size <= ceiling, `${size} bytes, ${size - ceiling} too many`);
  });
}

/** What the pages say, in kB: the figure is the group of the pattern. */
const SAID = [
  ["README.md", /`frazil\/decode`: only decoding, in ([\d.]+) kB/, "frazil/decode"],
  ["docs/api.md", /decodes an ID of a built-in layout, in ([\d.]+) kB/, "frazil/decode"],
  ["docs/workers.md", /is ([\d.]+) kB\.\n/, "frazil/decode"],
  ["docs/api.md", /make up IDs\. In ([\d.]+) kB/, "Layout of frazil/layout"],
  ["docs/layouts.md", /same class, in ([\d.]+) kB/, "Layout of frazil/layout"],
  ["docs/api.md", /For one ID or many at once, in ([\d.]+) kB/, "frazil/text"],
  ["docs/api.md", /JSON and SQL without loss, in ([\d.]+) kB/, "frazil/transport"],
  ["docs/transport.md", /has what this needs, in ([\d.]+) kB/, "frazil/transport"],
  ["docs/design.md", /## Why is `Layout` ([\d.]+) kB/, "Layout alone"],
  ["docs/design.md", /when the decoder is ([\d.]+)\?/, "frazil/decode"],
  ["docs/design.md", /They are [\d.]+ and\s([\d.]+) \(gzipped\)/, "the workerd entry"],
];

test("the sizes that the pages say are those of today, to a tenth", () => {
  for (const [page, said, name] of SAID) {
    const [, figure] = said.exec(readFileSync(join(root, page), "utf8")) ?? [];
    const [, , measure] = CEILINGS.find(([ceiling]) => ceiling === name);
    const size = measure() / kB;
    assert.ok(
      Math.abs(Number(figure) - size) < 0.075,
      `${page} says ${figure} kB of ${name}, which has ${size.toFixed(2)}`,
    );
  }
});

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
