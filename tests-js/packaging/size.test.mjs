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
const KIB = 1024;
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

// What the parts take, in KiB, as measured when each was added.
//
// **The errors alone**: classes that copies of the package and other realms recognise, details that print no secret, texts that are cut
// between characters and have none that a terminal acts on or hides; a text of 10 MB is cut before that, which takes 0.01 where the syntax
// is not shortened. The code is in a private field, and in the message behind a Proxy, which takes 0.02 and saves a twentieth of the time
// of a refusal.
//
// **The two texts of an error** take 0.03 of it, and in every entry 0.1 more: a message of the field, the rule and the value, and a hint.
// What a text is that is no ID (a UUID, base62) takes 0.1 where IDs are read, and advice in sentences 0.03 to 0.1.
//
// **`Layout`** is the decoder (2.3), and checking a layout, composing, ranges, plans, arrays and signed columns. Of it: protection against
// hostile code around the package 0.4 (every value is read once, and only own properties; layouts cannot change; array methods are those
// of the load; progress is not read from errors); messages about the mistakes that everybody makes 0.6 (`tests-js/base/mistakes.txt`);
// options that have a class, and the nearest name 0.2; `range` 0.25; `decodeMany` into given arrays, with the name of
// one that does not fit, 0.14, their places in memory 0.06, and the index of a wrong ID 0.01; refusing an epoch in seconds 0.03; the order
// of the modules by rooms, in which they compress less well, 0.02.
//
// **`frazil/layout`** is `Layout` from the file that `frazil` shares with it. The syntax of that file is not shortened, so that bundlers
// see what they may leave out: 0.13 of the errors alone.
//
// **The workerd entry** contains `Layout`. Of the rest: sequence starts, `health()` and the clock counters of `stats()` 0.4; protection
// against hostile code 0.3; stopping the module with a code when its stack overflows, and finding its memory without calling a getter of
// the user, 0.4; messages about clocks, epochs, node ids, counts and where they come from 0.8; the clock, the waits and the node id of a
// lease 0.2; waits by the time that passes, also with a clock that tests took away, 0.05; refusing `local()` 0.2; `tryNext()` and
// `nextNumber()` 0.2; static node ids in `health()` and on the console 0.2; what copies of the package share 0.05; the frequent refusal
// without the general path 0.06; one listener of a signal for all calls that wait 0.1. Lists without holes, whatever is on
// `Array.prototype`, take 0.05 here and in each entry that makes some, requests by no method that a program can replace 0.05, and a realm
// without random numbers 0.05; one wait for all, which an answer of a store can end, 0.04; one ID without a call of the module 0.34,
// with words in halves, since V8 compares no `bigint` with a number fast. Code for hosts with files, or with threads that
// may block, is not in it, because it is inside the condition and not after an early return. Waits in minutes and days take
// 0.06, and `health()` after `close()` 0.06.
//
// The number of the ABI has a digit more since it has the rules of public IDs, and is in each entry that mints: 2 bytes.
//
// **The module**: leases 5.3 (the state machine of leases, its numbers in the frame with a check of each, the errors); segments 2.7, of
// which how long requests wait for the tries of others 0.35; the ceiling of `durable()` 0.8; the count of requests 0.25; clocks that come
// back from ahead and pauses after leases that end at once 0.3; the window in which a state may mint 0.2; handles that are never reused,
// and callers whose sequence starts elsewhere, 0.2; the epoch and the process 0.15; requests of an attempt that is over, or whose window
// stands, and failures by two clocks, 0.13; epochs and windows in seconds 0.08; for how long a lease is usable, a clock that went back
// between two looks, and the calls of ceilings apart from those of leases, 0.24, which the clients of leases and segments have less; the
// line, by which JavaScript mints without a call, 0.5. One copy of six functions, no notes for tools and no panic message that nothing
// prints save 0.8, the order of the passes of `wasm-opt` 0.11, and optimising the core, the standard library and the binding
// together (LTO) 1.14.
//
// **`frazil/lease`** is the driver; `frazil` is not counted there. A third is errors that say what to do, and code for options and errors
// that the entry has too. Kernel randomness, the warning of a lost record and calls that hear of `close()` at once take 0.4;
// `preferredNode()`, only if it is used, 0.35; renewing by calls 0.2; late answers 0.2; where a store looked for a record 0.2; what its
// driver shares with that of Workers 0.17; what to call in a Worker 0.17; leases in each request, by scope, 0.21; node ids from the
// environment 0.2; one listener of a signal 0.1; random numbers that a clone shares 0.17 (of which 0.05 in `frazil/segment` and
// `frazil/workers`, which draw too); what the promise says without `await` 0.12; the callers in the stack of an error 0.07.
//
// **`frazil/segment`** is the class and what it asks of the store. The queue of calls that wait, its errors, what a process knows of a tag,
// collected segments and lost timers take 0.94; calls apart from timers and queue, and the names of the classes, 0.35.
//
// **`frazil/workers`** is what a Worker with a lease uploads beyond one with `frazil`, whose code is not counted: the client, which is
// `frazil/lease` with another driver, and the object, with the rules of the store over SQLite, the check of each request and row, and
// segments. Errors for a Worker take 0.5; options changed and checked by name, at most 16 sources, 0.4; replies of objects that are none,
// kinds of bindings, ranges beyond the layout, records and tables that are not the class's own 0.6; a counter that covers every range 0.25;
// a stub, which has a method of every name, 0.17; calls that a store refuses for good, and the place of `ctx`, 0.11; calls of a
// promise without `await` 0.11; node ids of new objects and of those of older versions 0.12; refusing a scope whose windows no lease can
// have 0.04. `durable()` and `segmented()` are left out where nothing uses them, but for 0.06. **`segmented()`**: what a segment hands
// out, requests for ranges, and their errors.
//
// **`frazil/workers/segment`** is all that a Worker with segments alone uploads: its JavaScript, and a module that has
// two of nine calls. With the file that both entries share, the code of `frazil/workers` is in another order, which takes 0.11 of a Worker
// with a lease, and 0.04 more of one with `segmented()` as well.
//
// All that read IDs ask which form a text without decimal digits is in, by length and digits, since a hint at one that does not read it
// misleads: 0.016 each.
//
// **`frazil/decode`**: printing and copying a decoded value show all fields. **`frazil/transport`**: the check of an ID and the errors, as
// there, 0.8, and the four calls 1.0, of which `readIds` for values of any depth takes 0.2.
//
// **`frazil/text`**: texts by pairs of digits and calls of `fromCharCode` with lists of arguments 0.5; `encodeInto` 0.7; base 16 and 32 by
// the bits of the ID 0.14; refusing lists whatever they are 0.1. All forms and alphabets of one's own take 0.63 beyond one form.
//
// **`frazil/typed`**: the errors 0.8, the digits of base 62 0.1, the widths of the named layouts 0.1, `anyId` 0.2, and the rest for schema
// libraries, ORMs, GraphQL and a refusal of each wrong option. Throwing what is no refusal, and leaving out inherited options, takes 0.02,
// and refusing fields of no, broken or negative bits as well.
//
// **`frazil/public`**: a module of AES alone, built alike, has 2.3, of which deciphering is 0.7. The crate's variant for 32 bits and little
// space is as fast here as the others. A Worker has errors and options in common with `frazil`. The aim was 6.0 for both together: they
// take 6.7. Elsewhere the module is base64 text: keys are on servers, which download nothing. Lists of keys, which differ and are tried in
// turn, and keys that were never filled are rules of the core: they take 0.35 of the module, and save 0.15 of the JavaScript. What only the
// command line needs of a key is in a module of its own.
//
// **Hints for mistakes of the first day** (a node id out of range, digits in a part, text in place of parsed JSON, short texts) take 0.02
// to 0.04 of each entry that has them, and 0.06 of the workerd entry; a conflict that says what differs 0.03 where there are leases.
//
// **What stores and drivers say** takes 0.05 to 0.15 where there are leases or segments: cut, on one line, and without passwords of URLs.
// The name of an own store, checked and read once, takes 0.02 to 0.05 of it. Hints that say what to stop first take 0.02.
// Throwing on whatever a getter of the options throws takes 0.01 of it, and a clock that shows a symbol 0.01 of each entry with a clock.
// Showing a name such as `{min}` as it is, and replacing the line breaks of Unicode, takes 0.01 to 0.03 of each entry that refuses.
//
// **The audit** is for the command line: four formats, the sort and the merge, statistics, and the sentences of its findings.
// Quotes inside cells, files that are damaged text, and advice that repeats nothing take 0.6 of it.
//
// **Keys of public IDs** that were given in the wrong place are in no message and no `value`: 0.05 of each entry that refuses.
//
// **Bounds of a range that fit a column** take 0.015 to 0.02 of each entry with layouts, and `parse` and `range` of generators 0.03.
const WORKER = 'export * from "frazil"; export { FrazilLeases, leased } from "frazil/workers"';
const NUMBERS = 'export * from "frazil"; export { FrazilLeases, leased, segmented } from "frazil/workers"';
const SEGMENTS = 'export { FrazilLeases, segmented } from "frazil/workers/segment"';
const CEILINGS = [
  ["the workerd entry", 14.421875 * KIB, () => bundled('export * from "frazil"', WORKERD)],
  ["its WebAssembly module", 18.46875 * KIB, () => gzipped(readFileSync(join(root, "npm/frazil/dist/frazil.wasm")))],
  [
    "frazil/lease",
    11.453125 * KIB,
    () => bundled('export * from "./npm/frazil/dist/lease.mjs"', ["browser"], ["frazil"]),
  ],
  [
    "frazil/segment",
    7.953125 * KIB,
    () => bundled('export * from "./npm/frazil/dist/segment.mjs"', ["browser"], ["frazil"]),
  ],
  [
    "frazil/workers, beyond frazil",
    17.015625 * KIB,
    () => bundled(WORKER, WORKERD) - bundled('export * from "frazil"', WORKERD),
  ],
  ["segmented(), beyond that", 3.625 * KIB, () => bundled(NUMBERS, WORKERD) - bundled(WORKER, WORKERD)],
  ["frazil/workers/segment", 24 * KIB, () => bundled(SEGMENTS, WORKERD)],
  [
    "its WebAssembly module, of segments alone",
    4.609375 * KIB,
    () => gzipped(readFileSync(join(root, "npm/frazil/dist/segment.wasm"))),
  ],
  ["frazil/decode", 2.609375 * KIB, () => bundled('export * from "frazil/decode"', ["browser"])],
  ["frazil/text", 4.953125 * KIB, () => bundled('export * from "frazil/text"', ["browser"])],
  ["frazil/transport", 2.484375 * KIB, () => bundled('export * from "frazil/transport"', ["browser"])],
  ["frazil/typed", 2.59375 * KIB, () => bundled('export * from "frazil/typed"', ["browser"])],
  ["defineId alone", 2.390625 * KIB, () => bundled('export { defineId } from "frazil/typed"', ["browser"])],
  [
    "frazil/public in a Worker, beyond frazil",
    1.796875 * KIB,
    () =>
      bundled('export * from "frazil"; export { publicIds } from "frazil/public"', WORKERD) -
      bundled('export * from "frazil"', WORKERD),
  ],
  [
    "the WebAssembly module of frazil/public",
    4.875 * KIB,
    () => gzipped(readFileSync(join(root, "npm/frazil/dist/public.wasm"))),
  ],
  [
    "the WebAssembly module of the audit",
    108.6875 * KIB,
    () => gzipped(readFileSync(join(root, "npm/frazil/dist/audit.wasm"))),
  ],
  ["one text form", 4.3125 * KIB, () => bundled('export { base62 } from "frazil/text"', ["browser"])],
  ["Layout alone", 6.796875 * KIB, () => bundled(LAYOUT, ["browser"])],
  ["Layout alone in a Worker", 6.75 * KIB, () => bundled(LAYOUT, WORKERD)],
  ["Layout of frazil/layout", 6.75 * KIB, () => bundled(LAYOUT_ALONE, ["browser"])],
  ["frazil/layout", 6.765625 * KIB, () => bundled('export * from "frazil/layout"', WORKERD)],
  ["the errors alone", 1.09375 * KIB, () => bundled(ERRORS, WORKERD)],
];

for (const [name, ceiling, measure] of CEILINGS) {
  test(`${name} is at most ${ceiling} bytes gzipped`, (context) => {
    const size = measure();
    context.diagnostic(`${name}: ${size} of ${ceiling} bytes`);
    assert.ok(size <= ceiling, `${size} bytes, ${size - ceiling} too many`);
  });
}

/** What the pages say, in kB of 1024 bytes: the figure is the group of the pattern. A space of it stands for a line break too. */
const SAID = [
  ["README.md", /decoding in a page takes ([\d.]+) kB/, "frazil/decode"],
  ["docs/reference/api.md", /decodes an ID of a built-in layout, in ([\d.]+) kB/, "frazil/decode"],
  ["docs/guides/workers.md", /is ([\d.]+) kB\.\n/, "frazil/decode"],
  ["docs/guides/workers.md", /uploads ([\d.]+) kB/, "frazil/workers, beyond frazil"],
  ["docs/guides/workers.md", /`segmented\(\)` adds ([\d.]+) kB/, "segmented(), beyond that"],
  ["docs/reference/api.md", /make up IDs\. In ([\d.]+) kB/, "Layout of frazil/layout"],
  ["docs/reference/layouts.md", /same class, in ([\d.]+) kB/, "Layout of frazil/layout"],
  ["docs/reference/api.md", /For one ID or many at once, in ([\d.]+) kB/, "frazil/text"],
  ["docs/reference/api.md", /JSON and SQL without loss, in ([\d.]+) kB/, "frazil/transport"],
  ["docs/reference/api.md", /In ([\d.]+) kB and without WebAssembly\. \[Typed/, "frazil/typed"],
  ["docs/reference/api.md", /its module has ([\d.]+) kB/, "the WebAssembly module of frazil/public"],
  ["docs/guides/json.md", /has what this needs, in ([\d.]+) kB/, "frazil/transport"],
  ["docs/internals/design.md", /## Why is `Layout` ([\d.]+) kB/, "Layout alone"],
  ["docs/internals/design.md", /when the decoder is ([\d.]+)\?/, "frazil/decode"],
  ["docs/internals/design.md", /They are [\d.]+ and ([\d.]+) \(gzipped\)/, "the workerd entry"],
];

test("the sizes that the pages say are those of today, to a tenth", () => {
  for (const [page, said, name] of SAID) {
    const pattern = new RegExp(said.source.replaceAll(" ", "\\s+"));
    const [, figure] = pattern.exec(readFileSync(join(root, page), "utf8")) ?? [];
    const [, , measure] = CEILINGS.find(([ceiling]) => ceiling === name);
    const size = measure() / KIB;
    assert.ok(
      Math.abs(Number(figure) - size) < 0.075,
      `${page} says ${figure} kB of ${name}, which has ${size.toFixed(2)}`,
    );
  }
});

test("frazil/workers/segment has the WebAssembly module of segments, and not that of generators", () => {
  const imported = bundleOf(SEGMENTS, WORKERD).text.match(/[\w-]+\.wasm/g);
  assert.deepEqual(imported, ["segment.wasm"]);
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
