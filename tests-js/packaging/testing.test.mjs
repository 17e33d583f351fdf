// `frazil/testing` in programs: no other entry contains it, and a bundle for production refuses it, even without an environment.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { buildSync } from "esbuild";
import { root } from "./tarballs.mjs";

const dist = join(root, "npm/frazil/dist");

test("no other file of the package contains or imports what is for tests alone", () => {
  const files = readdirSync(dist, { recursive: true }).filter((file) => /\.[cm]js$/.test(file));
  // Messages name the entry, and that is no import. One hint names a store.
  const HINT = "in tests new MemorySegmentStore().";
  const uses =
    /(seededIds|manualClock|Memory(Lease|Segment)Store)|(from|import|require\()\s*["'][^"']*\/testing(\.[cm]js)?["']/;
  const withIt = files.filter((file) => uses.test(readFileSync(join(dist, file), "utf8").replaceAll(HINT, "")));
  assert.deepEqual(withIt.sort(), ["testing.cjs", "testing.mjs"]);
});

/** Bundles a program that mints for tests, and runs it where there is no `process`, as in a page. */
function runBundle(options) {
  const [{ text }] = buildSync({
    stdin: {
      contents: `
        import { MemoryLeaseStore, MemorySegmentStore, manualClock, seededIds } from "frazil/testing";
        const stores = [MemoryLeaseStore, MemorySegmentStore].map((Store) => () => new Store());
        for (const make of [seededIds, manualClock, ...stores]) {
          try {
            console.log(typeof make());
          } catch ({ code, field }) {
            console.log(code, field);
          }
        }`,
      resolveDir: root,
    },
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    tsconfigRaw: "{}",
    ...options,
  }).outputFiles;
  const input = `const { log } = console; delete globalThis.process; ${text}`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-"], {
    input,
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  return stdout.trim().split("\n");
}

test("a bundle for production refuses it in a page, which has no environment, and other bundles mint", () => {
  const define = (value) => ({ define: { "process.env.NODE_ENV": JSON.stringify(value) } });
  const refusals = Array(4).fill("INVALID_OPTION NODE_ENV");
  const made = Array(4).fill("object");
  assert.deepEqual(runBundle(define("production")), refusals);
  // What esbuild puts in by itself.
  assert.deepEqual(runBundle({ minify: true }), refusals);
  assert.deepEqual(runBundle({}), made);
  assert.deepEqual(runBundle(define("test")), made);
  // Where nothing is put in, as in a script that a page loads by itself.
  assert.deepEqual(runBundle({ platform: "neutral" }), made);
});
