// docs/safety.md: 21
// Two copies of the addon in one process, loaded in every way by which they might not see each other.
import assert from "node:assert/strict";
import { copyFileSync, linkSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { addonFile, addonPackage, copyPackage, inNewProcess, needsAddon, needsLinux, repeats } from "./node-process.mjs";

/**
 * A copy of the package with a file of the addon of its own, which it loads by a program.
 *
 * @param load JavaScript that loads the addon from `file`; `flags` are the flags of `dlopen`
 * @param link whether the file is a hard link to that of another copy
 */
function copyOf({ load = "process.dlopen(module, file)", link } = {}) {
  const folder = copyPackage();
  const file = join(folder, "copy.node");
  if (link) linkSync(link.file, file);
  else copyFileSync(addonFile, file);
  const loader = join(folder, "node_modules", addonPackage);
  mkdirSync(loader, { recursive: true });
  writeFileSync(join(loader, "package.json"), JSON.stringify({ name: addonPackage, main: "load.cjs" }));
  const flags = 'require("node:os").constants.dlopen';
  writeFileSync(
    join(loader, "load.cjs"),
    `const file = ${JSON.stringify(file)}; const flags = ${flags}; const fs = require("node:fs"); ${load};`,
  );
  return { file, entry: join(folder, "dist/node.cjs") };
}

/** Defines `mint()`, which mints with a package, and returns the IDs or the refusal. */
const MINT = `
  globalThis.mint = ({ path, now, options }) => {
    Date.now = () => now;
    const made = eval("(" + options + ")");
    try {
      return { ids: new (require(path).Snowflake)(made).nextManyStrings(2000) };
    } catch ({ code, message }) {
      return { code, message };
    }
  };
`;

/** Mints with the first copy in the main thread, runs a program, and mints with the second copy in a worker thread. */
const mintWith = (first, second, { between = "", options = "{ node: 5 }" } = {}) =>
  inNewProcess(
    `
    import fs from "node:fs";
    import { createRequire } from "node:module";
    import { Worker } from "node:worker_threads";
    globalThis.require = createRequire(import.meta.url);
    ${MINT}
    const given = { now: Date.now() + 500, options: ${JSON.stringify(options)} };
    const results = [mint({ ...given, path: ${JSON.stringify(first.entry)} })];
    ${between};
    const script = ${JSON.stringify(`globalThis.require = require; ${MINT}; const { parentPort, workerData } = require("node:worker_threads"); parentPort.postMessage(mint(workerData));`)};
    const worker = new Worker(script, { eval: true, execArgv: [], workerData: { ...given, path: ${JSON.stringify(second.entry)} } });
    results.push(await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject)));
    process.stdout.write(JSON.stringify(results));
  `,
    { env: { FRAZIL_BACKEND: "native" } },
  );

/** Asserts that the first copy mints, and that the second one is refused. */
async function assertSecondIsRefused(...given) {
  const [first, second] = await mintWith(...given);
  assert.equal(repeats([...(first.ids ?? []), ...(second.ids ?? [])]), 0);
  assert.equal(first.code, undefined, first.message);
  assert.equal(second.code, "STATE_CONFLICT", second.message ?? "both copies mint");
  assert.match(second.message, /another copy of frazil is loaded from .*: install one/);
}

describe("a second copy of the addon is refused", () => {
  test("if the two files are at two paths", needsAddon, () => assertSecondIsRefused(copyOf(), copyOf()));

  // On Linux, the symbols of the first copy then answer for those of the second.
  test("if all libraries see the symbols of both", needsLinux, () => {
    const load = "process.dlopen(module, file, flags.RTLD_NOW | flags.RTLD_GLOBAL)";
    return assertSecondIsRefused(copyOf({ load }), copyOf({ load }));
  });

  for (const [how, between] of [
    ["renamed", (file) => `fs.renameSync(${file}, ${file} + ".old")`],
    ["removed", (file) => `fs.unlinkSync(${file})`],
    [
      "replaced",
      (file) => `fs.copyFileSync(${file}, ${file} + ".new"); fs.renameSync(${file} + ".new", ${file})`,
    ],
  ]) {
    test(`if the file of the first was ${how}`, needsLinux, () => {
      const first = copyOf();
      return assertSecondIsRefused(first, copyOf(), { between: between(JSON.stringify(first.file)) });
    });
  }

  test("if both were loaded from a descriptor that is closed", needsLinux, () => {
    const load = `const open = fs.openSync(file); process.dlopen(module, "/proc/self/fd/" + open); fs.closeSync(open); fs.unlinkSync(file)`;
    return assertSecondIsRefused(copyOf({ load }), copyOf({ load: `fs.openSync("/dev/null"); ${load}` }));
  });
});

test("two hard links to one file are one copy, which shares its states", needsLinux, async () => {
  const first = copyOf();
  const second = copyOf({ link: first });
  const [ours, theirs] = await mintWith(first, second);
  assert.deepEqual([ours.code, theirs.code], [undefined, undefined], theirs.message);
  assert.equal(repeats([...ours.ids, ...theirs.ids]), 0);
  const broken = await mintWith(first, second, { options: "{ node: 5, now: Date.now }" });
  assert.equal(repeats(broken.flatMap(({ ids }) => ids)), 2000, "the checker must catch two states");
});
