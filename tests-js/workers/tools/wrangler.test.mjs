// wrangler with the packed tarball: its upload, and its local server.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { freePort } from "../../stores/kit/server-process.mjs";
import {
  answerOf,
  checkAnswer,
  installWorker,
  newestDate,
  OLDEST_DATE,
  packages,
  runTool,
  WRANGLER,
} from "./consumer.mjs";

const DATES = [OLDEST_DATE, newestDate(packages.wrangler)];

/**
 * Upper limits of all that is uploaded, JavaScript and WebAssembly, gzipped, in KiB as wrangler prints them. A limit is raised only in
 * the commit that needs it; tests-js/packaging/size.test.mjs says what the parts take. By default wrangler does not minify: the build
 * removes the comments in classes, which took 6.7 of it. One ID without a call of the module (the line) takes 0.28 of JavaScript. Messages
 * and hints as separate texts take 0.5 to 0.7; hints for mistakes of the first day, and the state after close(), 0.1 to 0.25; what stores
 * say, cut and without passwords, 0.1 to 0.15; the name of an own store, checked and treated likewise, 0.06; keys of public IDs, which
 * no message shows, 0.1; that another scope is for another column, 0.02.
 */
const CEILINGS = [
  ["as wrangler uploads it by default", [], 65.640625],
  ["with --minify", ["--minify"], 52.640625],
  ["segments alone", ["src/segment.ts"], 39.984375],
  ["segments alone, with --minify", ["src/segment.ts", "--minify"], 31.3125],
];

let folder;
before(() => {
  folder = installWorker();
});

for (const date of DATES) {
  test(`wrangler deploy --dry-run at ${date} uploads one module of JavaScript and one of WebAssembly`, (context) => {
    for (const [at, [how, flags, ceiling]] of CEILINGS.entries()) {
      const outdir = `out-${date}-${at}`;
      const args = ["deploy", "--dry-run", "--outdir", outdir, "--compatibility-date", date, ...flags];
      const { stdout, stderr } = runTool(folder, WRANGLER, args);
      assert.equal(stderr, "");
      const kinds = readdirSync(join(folder, outdir)).map((name) => /\.(\w+)$/.exec(name)[1]);
      assert.deepEqual(kinds.sort(), ["js", "map", "md", "wasm"]);
      const [, size] = /Total Upload: .* gzip: ([\d.]+) KiB/.exec(stdout) ?? assert.fail(stdout);
      context.diagnostic(`${how}: ${size} of ${ceiling} KiB`);
      assert.ok(size <= ceiling, `${how}: ${size} KiB, and at most ${ceiling} are allowed`);
    }
  });

  test(`wrangler dev at ${date}: the Worker mints by a lease`, async () => {
    const args = async (port) => [
      ...["dev", "--ip", "127.0.0.1", "--port", port, "--inspector-port", `${await freePort()}`],
      ...["--compatibility-date", date],
    ];
    checkAnswer(await answerOf(folder, WRANGLER, args));
  });
}

test("wrangler uploads the WebAssembly module once with a Worker that imports frazil, also if it does not mint, and never with one that imports frazil/layout or frazil/decode", () => {
  const uploaded = (name) => {
    const outdir = join(folder, `out-${name}`);
    // Without the configuration, whose objects these Workers do not have.
    const args = ["--name", name, "--compatibility-date", OLDEST_DATE, "--config", "none.json"];
    writeFileSync(join(folder, "none.json"), "{}");
    runTool(folder, WRANGLER, ["deploy", `src/${name}.ts`, "--dry-run", "--outdir", outdir, ...args]);
    const modules = readdirSync(outdir).filter((file) => file.endsWith(".wasm")).length;
    return { modules, imports: /\bimport\b.*\.wasm/.test(readFileSync(join(outdir, `${name}.js`), "utf8")) };
  };
  assert.deepEqual(uploaded("mint"), { modules: 1, imports: true });
  assert.deepEqual(uploaded("layout-of-frazil"), { modules: 1, imports: false });
  assert.deepEqual(uploaded("layout"), { modules: 0, imports: false });
  assert.deepEqual(uploaded("decode"), { modules: 0, imports: false });
});
