// docs/internals/claims.md: 21
// Two copies of the addon in one process, loaded in every way that might hide them from each other.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { addonFile, entry, needsAddon, needsLinux, repeats } from "./node-process.mjs";

const main = fileURLToPath(new URL("copies-main.cjs", import.meta.url));

/** What the two copies did. */
async function run(name) {
  const folder = dirname(dirname(entry));
  const { stdout } = await promisify(execFile)(process.execPath, [main, folder, addonFile, name], {
    maxBuffer: 2 ** 24,
  });
  return JSON.parse(stdout);
}

describe("a second copy of the addon in another thread is refused", () => {
  for (const [name, needed] of [
    ["two paths", needsAddon],
    // The symbols of the first copy then answer for those of the second.
    ["symbols of both for all libraries", needsLinux],
    ["first renamed", needsLinux],
    ["first removed", needsLinux],
    ["first replaced", needsLinux],
    ["closed descriptors", needsLinux],
  ]) {
    test(name, needed, async () => {
      const [first, second] = await run(name);
      assert.equal(first.code, undefined, first.message);
      assert.equal(second.code, "STATE_CONFLICT", second.message ?? "both copies mint");
      assert.match(second.message, /another copy of frazil is loaded from .*, and its states cannot be shared$/);
    });
  }
});

test("two hard links to one file are one copy, which shares its states", needsLinux, async () => {
  const [first, second] = await run("hard link");
  assert.deepEqual([first.code, second.code], [undefined, undefined], second.message);
  assert.equal(repeats([...first.ids, ...second.ids]), 0);
  const broken = await run("hard link, own states");
  assert.equal(repeats(broken.flatMap(({ ids }) => ids)), 2000, "the checker must catch two states");
});
