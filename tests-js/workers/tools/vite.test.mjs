// @cloudflare/vite-plugin with the packed tarball, with the configuration of docs/guides/workers-tools.md, which has no options.
import assert from "node:assert/strict";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { blocksOf } from "../../stores/workerd/page.mjs";
import {
  answerOf,
  checkAnswer,
  installWorker,
  newestDate,
  OLDEST_DATE,
  packages,
  runTool,
  setDate,
  VITE,
} from "./consumer.mjs";

const DATES = [OLDEST_DATE, newestDate(packages.vitePlugin)];
const serve = (port) => ["--host", "127.0.0.1", "--port", port, "--strictPort"];

let folder;
before(() => {
  folder = installWorker();
  const [configuration] = blocksOf("../../guides/workers-tools", "ts");
  writeFileSync(join(folder, "vite.config.mts"), configuration);
});

for (const date of DATES) {
  test(`vite build at ${date} emits the WebAssembly module once, and what it built mints by a lease`, async () => {
    setDate(folder, date);
    rmSync(join(folder, "dist"), { recursive: true, force: true });
    runTool(folder, VITE, ["build"]);
    const files = readdirSync(join(folder, "dist"), { recursive: true });
    assert.equal(files.filter((name) => name.endsWith(".wasm")).length, 1, `${files}`);
    checkAnswer(await answerOf(folder, VITE, (port) => ["preview", ...serve(port)]));
  });
}

test("vite dev: the Worker mints by a lease", async () => {
  checkAnswer(await answerOf(folder, VITE, serve));
});
