// The pages of the stores of Workers, as they are printed.
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { WorkerServer } from "./server.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const textOf = (name) => readFileSync(path(`../../../docs/reference/stores/${name}.md`), "utf8");

/** The blocks of a page in a language. */
export const blocksOf = (name, language) =>
  [...textOf(name).matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "gs"))].map(([, code]) => code);

/** The cells of a row of a table of a page, without its first one. */
export const rowOf = (name, first) =>
  textOf(name)
    .split("\n")
    .find((line) => line.startsWith(`| ${first} |`))
    .split("|")
    .slice(2, -1)
    .map((cell) => cell.trim().replaceAll("`", ""));

/** The secret of the pages that have one. */
const SET_UP_KEY = "a secret of the tests";

/** The wrangler configuration that a page prints, if it prints one. */
const configurationOf = (name) => JSON.parse(blocksOf(name, "jsonc")[0] ?? "{}");

/** What a wrangler configuration binds. */
function bindingsOf({ durable_objects: objects = {}, migrations = [], d1_databases: databases = [] }) {
  return {
    objects: Object.fromEntries((objects.bindings ?? []).map(({ name, class_name }) => [name, class_name])),
    classes: Object.fromEntries(
      migrations.flatMap(({ new_sqlite_classes: classes }) => classes.map((name) => [name, "sqlite"])),
    ),
    databases: Object.fromEntries(databases.map(({ binding, database_id }) => [binding, database_id])),
    vars: { SET_UP_KEY },
  };
}

let started = 0;

/** Starts a Worker of a page under its configuration, at its date. `more`: further bindings. */
export async function startPage(name, code, more = {}) {
  const file = path(`of-the-page-${name.replaceAll(/\W/g, "")}-${process.pid}-${++started}.mjs`);
  const configuration = configurationOf(name);
  const bindings = bindingsOf(configuration);
  const merged = Object.fromEntries(Object.entries(bindings).map(([key, value]) => [key, { ...value, ...more[key] }]));
  writeFileSync(file, code);
  try {
    return await WorkerServer.startWith(file, { date: configuration.compatibility_date, ...merged });
  } finally {
    rmSync(file);
  }
}

/** The text that a Worker answers a request with. */
export const answerOf = async ({ url }, path = "/", headers = {}) =>
  (await fetch(new URL(path, url), { headers })).text();

/** Has the Worker of a page make its tag, which no visitor can. */
export async function setUp(server) {
  const { status } = await fetch(new URL("/set-up", server.url), { headers: { authorization: "Bearer undefined" } });
  assert.equal(status, 404);
  assert.equal(await answerOf(server, "/set-up", { authorization: `Bearer ${SET_UP_KEY}` }), "true");
}
