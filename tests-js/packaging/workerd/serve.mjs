// Runs a bundled Worker in workerd, sends it one request, and prints the answer. Needs the Node version that miniflare needs.
import { readdirSync, readFileSync } from "node:fs";
import { Miniflare } from "miniflare";

const [folder] = process.argv.slice(2);
const modules = readdirSync(folder).map((name) => {
  const type = name.endsWith(".wasm") ? "wasm" : "esm";
  return [name, { type, contents: readFileSync(`${folder}/${name}`) }];
});
const manifest = { mainModule: "worker.mjs", modules: Object.fromEntries(modules) };
const server = new Miniflare({
  workers: [{ config: { name: "consumer", compatibilityDate: "2026-11-01", manifest } }],
});
try {
  const response = await server.dispatchFetch("http://localhost/");
  process.stdout.write(await response.text());
} finally {
  await server.dispose();
}
