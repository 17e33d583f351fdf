// docs/guides/json.md as printed: its Workers in workerd, with their bindings. tests-js/pages/readme.test.mjs runs its other programs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Layout } from "frazil";
import { readIds } from "frazil/transport";
import { isWorker } from "../pages/examples.mjs";
import { PostgresServer } from "../stores/postgres/server.mjs";
import { startWorker, textOf } from "./workerd.mjs";

const page = readFileSync(new URL("../../docs/guides/json.md", import.meta.url), "utf8");
const parts = [...page.matchAll(/^## ([^\n]+)$|^```(\w+)\n(.*?)^```$/gms)];

/** The blocks with code and output, each with the heading above it. */
const blocks = [];
let heading;
for (const [at, [, title, language, text]] of parts.entries()) {
  if (title) heading = title;
  if (language !== "js") continue;
  assert.equal(parts[at + 1]?.[2], "text", `the block under ${heading} has no output`);
  blocks.push({ heading, code: text, output: parts[at + 1][3] });
}
const workers = blocks.filter(isWorker);

test("the page has Workers", () => assert.equal(workers.length, 6));

test("the pattern of the schema fits every ID, and is no check of the range", () => {
  const [, pattern, tooLarge] = page.match(/`pattern: (\S+)`.*?`(\d+)` fits it/s);
  const fits = (text) => new RegExp(pattern, "u").test(text);
  for (const id of [0n, 9n, 10n, 2n ** 63n, 2n ** 64n - 1n]) assert.ok(fits(`${id}`), `${id}`);
  for (const text of ["", "00", "01", "-1", "1 ", "1e3", "0x1", "9".repeat(21)]) assert.ok(!fits(text), text);
  assert.ok(fits(tooLarge));
  assert.throws(() => Layout.named("default").parse(tooLarge), { code: "INVALID_ID" });
  assert.throws(() => readIds({ id: tooLarge }, "id"), { code: "INVALID_ID" });
});

let postgres;
before(async () => {
  postgres = await PostgresServer.start();
});
after(() => postgres?.stop());

/** Sends what a Worker of the page needs first, and then the request whose answer the page shows. */
const REQUESTS = {
  JSON: async (worker) => {
    const [, body] = page.match(/With the body `(.*)` it answers/);
    const [, sentence] = page.match(/It answers 400 for the bodies (.*?)\.\n\n/s);
    const bodies = [...sentence.matchAll(/`([^`]*)`/g)].map(([, wrong]) => wrong);
    assert.equal(bodies.length, 11);
    const deep = `{"id":"5","deep":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    for (const wrong of [...bodies, deep, ""]) {
      const response = await worker.dispatchFetch("http://transport.test/", { method: "POST", body: wrong });
      const answer = await response.text();
      assert.equal(response.status, 400, `${wrong.slice(0, 99)}: ${answer}`);
      if (wrong === "{" || wrong === "") continue;
      const expected = wrong === deep ? ["INVALID_ARGUMENT", "value"] : ["INVALID_ID", "id"];
      assert.deepEqual([JSON.parse(answer).code, JSON.parse(answer).field], expected, wrong.slice(0, 99));
    }
    return textOf(worker, "/", body);
  },
  D1: async (worker) => {
    const [, create] = page.match(/```sql\n(.*?)```/s);
    const { DB } = await worker.getBindings();
    await DB.exec(create.trim());
    return textOf(worker);
  },
  Queues: async (worker) => {
    assert.equal(await textOf(worker, "/", {}), "sent");
    let answer = "null";
    for (let tries = 0; tries < 500 && answer.includes("null"); tries++) answer = await textOf(worker);
    return answer;
  },
};

for (const { heading, code: program, output } of workers) {
  test(`${heading}: the Worker answers what the page shows`, async () => {
    const classes = [...program.matchAll(/^export class (\w+) extends DurableObject/gm)].map(([, name]) => name);
    const connectionString = program.includes("HYPERDRIVE") ? postgres.url : undefined;
    const worker = await startWorker(program, { classes, connectionString });
    try {
      assert.equal(`${await (REQUESTS[heading] ?? textOf)(worker)}\n`, output);
    } finally {
      await worker.dispose();
    }
  });
}
