// docs/guides/frameworks.md as printed, with the packages of the frameworks. Next is run by hand: it is too large.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { transform } from "esbuild";
import { startPage } from "../stores/workerd/page.mjs";
import { blocksOf, textOf } from "./examples.mjs";

const blocks = blocksOf(textOf("docs/guides/frameworks.md"));
const codeOf = (text) => blocks.find(({ code }) => code.includes(text)).code;

/** A store whose requests fail while `isDown`, which the tests look into. */
const STORE = `import { MemoryLeaseStore } from "frazil/testing";
export const store = new MemoryLeaseStore();
await store.init({ layout: "default" });
const acquire = store.acquire.bind(store);
store.acquire = (request) => (store.isDown ? Promise.reject(new Error("down")) : acquire(request));
export const held = () => [...store.rows().values()].filter(({ grant }) => grant !== null).length;
`;

let folder;
before(() => {
  folder = mkdtempSync(fileURLToPath(new URL("run-", import.meta.url)));
});
after(() => rmSync(folder, { recursive: true }));

/** Writes programs of the page into a folder with the store, and returns what imports one. */
function project(name, files) {
  const own = join(folder, name);
  for (const [path, code] of Object.entries({ "store.js": STORE, ...files })) {
    mkdirSync(dirname(join(own, path)), { recursive: true });
    writeFileSync(join(own, path), code);
  }
  return (path, query = "") => import(`${pathToFileURL(join(own, path))}${query}`);
}

const isId = ({ id }) => assert.match(id, /^\d{18}$/);

test("Fastify: a route mints, and closing the server gives the node id back", async () => {
  const load = project("fastify", { "app.js": codeOf('from "fastify"') });
  const [{ app }, { held }] = [await load("app.js"), await load("store.js")];
  isId((await app.inject({ method: "POST", url: "/orders" })).json());
  assert.equal(held(), 1);
  await app.close();
  assert.equal(held(), 0);
});

test("Nest: a provider mints, and the shutdown gives the node id back", async () => {
  await import("reflect-metadata");
  const { NestFactory } = await import("@nestjs/core");
  const { Module } = await import("@nestjs/common");
  const tsconfigRaw = { compilerOptions: { experimentalDecorators: true } };
  const { code } = await transform(codeOf("@nestjs/common"), { loader: "ts", target: "es2022", tsconfigRaw });
  const load = project("nest", { "ids.js": code });
  const [{ IdsModule, Orders }, { held }] = [await load("ids.js"), await load("store.js")];
  class App {}
  Module({ imports: [IdsModule], providers: [Orders] })(App);
  const app = await NestFactory.createApplicationContext(App, { logger: ["error"] });
  isId(app.get(Orders).create());
  assert.equal(held(), 1);
  await app.close();
  assert.equal(held(), 0);
});

test("Next: a route mints, a copy of the module has the same generator, and a failure is not kept", async () => {
  const load = project("next", {
    "lib/store.js": STORE,
    "lib/ids.js": codeOf("lib/ids.js"),
    "app/orders/route.js": codeOf("route.js\nimport"),
  });
  const [{ store, held }, { POST }, copy] = [
    await load("lib/store.js"),
    await load("app/orders/route.js"),
    await load("lib/ids.js", "?copy"),
  ];
  assert.equal(held(), 0, "importing takes no lease");
  store.isDown = true;
  const refused = copy.generator();
  assert.equal(globalThis.ids, refused);
  await assert.rejects(refused, /STORE_UNAVAILABLE/);
  store.isDown = false;
  isId(await (await POST()).json());
  await (await copy.generator()).close();
  assert.equal(held(), 0);
});

test("Hono: a Worker mints in requests", async () => {
  const server = await startPage("../../guides/workers", codeOf('from "hono"'));
  try {
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => (await fetch(new URL("/orders", server.url), { method: "POST" })).json()),
    );
    answers.forEach(isId);
    assert.equal(new Set(answers.map(({ id }) => id)).size, 20);
  } finally {
    await server.stop();
  }
});

test("the page has these programs, and no other", () => assert.equal(blocks.length, 5));
