// docs/reference/stores/d1.md as printed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { answerOf, blocksOf, startPage } from "../workerd/page.mjs";

const cli = fileURLToPath(new URL("../../../npm/frazil/dist/cli.mjs", import.meta.url));
const [program] = blocksOf("d1", "js");
const [onceInShell] = blocksOf("d1", "sh");
const [query] = blocksOf("d1", "sql");

/** A route that runs what ddl prints, as wrangler does; and one that runs the query of the page. */
const withSql = `${program.replace("export default", "const worker =")}
export default {
  async fetch(request, env, ctx) {
    if (request.method === "GET") return worker.fetch(request, env, ctx);
    const statements = (await request.text()).split(/;\\n/).filter((text) => /^(?!--).*\\S/m.test(text));
    return Response.json((await env.DB.batch(statements.map((sql) => env.DB.prepare(sql)))).at(-1).results);
  },
};`;

test("the programs of docs/reference/stores/d1.md run as they are printed", async () => {
  const server = await startPage("d1", withSql);
  const run = async (body) => (await fetch(server.url, { method: "POST", body })).json();
  try {
    const flags = /npx frazil (ddl d1 .*) > frazil\.sql/.exec(onceInShell)[1].split(" ");
    await run(execFileSync(process.execPath, [cli, ...flags], { encoding: "utf8" }));
    const answers = await Promise.all(Array.from({ length: 20 }, () => answerOf(server)));
    const ids = answers.map((answer) => /^(\d{18,19}) (\d+)\n$/.exec(answer).slice(1));
    assert.equal(new Set(ids.map(([id]) => id)).size, 20);
    const rows = await run(query);
    assert.deepEqual([rows.length, String(rows[0].node)], [1, ids[0][1]]);
  } finally {
    await server.stop();
  }
});
