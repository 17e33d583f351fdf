//! docs/internals/claims.md: 2, 34
// Threads and processes that swap one word from TypeScript (`swapOne` of `swap-line.ts`), in each engine of
// `core/binding/proven-engines.ts` and in each of its compilers. An engine that is added there passes this first.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { tools } from "../../../scripts/tools.mjs";
import { mutablePackage } from "../../core/package-copy.mjs";

const program = fileURLToPath(new URL("minting-main.mjs", import.meta.url));
/** The commands of Node by name. `npm run test:long -- swaps-arm64` gives others. */
const NODES = JSON.parse(process.env.FRAZIL_TEST_NODES ?? "null") ?? {
  "Node 20": [process.execPath],
  "Node 22": [tools.node22],
  "Node 24": [tools.node24],
};
/** An emulated processor is many times slower. */
const SHARE = process.env.FRAZIL_TEST_NODES ? 0.1 : 1;
const COMPILERS = {
  interpreter: ["--no-opt", "--no-sparkplug", "--no-maglev"],
  baseline: ["--no-opt", "--always-sparkplug", "--no-maglev"],
  Maglev: ["--no-opt", "--maglev"],
  "as usual": [],
};

/** What a program says of its IDs, and what its host says. */
async function mintedOn(kind, count, { node = [process.execPath], flags = [], main = intact.main, env = {} } = {}) {
  const dir = mkdtempSync(join(tmpdir(), "frazil-swaps-"));
  try {
    const of = { FRAZIL_BACKEND: "native", FRAZIL_TEST_NODE: JSON.stringify([...node, ...flags]) };
    const options = { env: { ...process.env, ...of, ...env } };
    const [command, ...before] = node;
    const args = [...before, "--no-warnings", ...flags, main, kind, count, dir];
    const { stdout, stderr } = await promisify(execFile)(command, args, options);
    return { answer: JSON.parse(stdout), said: stderr };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

const minted = async (...given) => (await mintedOn(...given)).answer;

const intact = mutablePackage(program);
const { main: changed, breakRule } = mutablePackage(program);

/** Whether a mutant that reads the word and then writes it repeats an ID. Two threads meet by chance, so it has more than one chance. */
async function isMutantCaught(kind, count, options) {
  breakRule("swap = Atomics.compareExchange", "swap = (words, at, before, next) => (words[at] = next, before)");
  for (let run = 0; run < 20; run++) {
    const { repeats } = await minted(kind, count, { ...options, main: changed });
    if (repeats > 0) return true;
  }
  return false;
}

for (const [name, node] of Object.entries(NODES)) {
  for (const [compiler, flags] of Object.entries(COMPILERS)) {
    // Node 20 has no Maglev.
    if (name === "Node 20" && compiler === "Maglev") continue;
    test(`${name}, ${compiler}: threads that swap one word repeat no ID, and threads that read and write it do`, async () => {
      const each = 20_000 * SHARE;
      const { count, swapped, repeats } = await minted("threads", each, { node, flags });
      assert.deepEqual({ count, repeats }, { count: 3 * each, repeats: 0 });
      assert.ok(swapped > each / 20, `${swapped} IDs were minted without a call of the core`);
      assert.ok(await isMutantCaught("threads", each, { node, flags }), "the checker must catch the mutant");
    });
  }

  test(`${name}: processes that swap one word of a file repeat no ID, and processes that read and write it do`, async () => {
    const { count, swapped, repeats } = await minted("processes", 1000, { node });
    assert.deepEqual({ count, repeats }, { count: 3000, repeats: 0 });
    assert.ok(swapped > 500, `${swapped} IDs were minted without a call of the core`);
    assert.ok(await isMutantCaught("processes", 300, { node }), "the checker must catch the mutant");
  });

  test(`${name}: a thread that is ended while it mints leaves a word from which others go on`, async () => {
    const { count, repeats } = await minted("ended", 20_000, { node });
    assert.ok(count > 1000, `${count}`);
    assert.equal(repeats, 0);
  });
}

test("threads that each swap a copy of the word repeat IDs", async () => {
  breakRule("word: new Ids(word2)", "word: new Ids(word2.slice(0))");
  const { repeats } = await minted("threads", 20_000, { main: changed });
  assert.ok(repeats > 0);
});

test("a host that refuses memory of others, or copies it, has no line, is not asked again, and repeats no ID", async () => {
  const library = join(intact.folder, "hosts.so");
  const source = fileURLToPath(new URL("hosts.c", import.meta.url));
  await promisify(execFile)("cc", ["-shared", "-fPIC", "-o", library, source]);
  for (const host of ["refuses", "copies"]) {
    const env = { LD_PRELOAD: library, FRAZIL_TEST_HOST: host };
    const { answer, said } = await mintedOn("threads", 20_000, { env });
    assert.deepEqual(answer, { count: 60_000, swapped: 0, repeats: 0 }, host);
    const { asked, kept } = JSON.parse(said);
    // Three threads may ask at the same time.
    assert.ok(asked >= 1 && asked <= 3, `${host}: asked ${asked} times`);
    assert.equal(kept, 0, `${host}: what the addon had for the buffer is freed`);
  }
});
