// docs/reference/stores/redis.md as printed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, test } from "node:test";
import { checkPrinted, checkTags, runPage } from "../kit/page.mjs";
import { connectStore, startServer } from "./server.mjs";

let server;
after(() => server?.stop());

test("the programs of docs/reference/stores/redis.md run as they are printed, at every start", async () => {
  server = await startServer();
  await runPage("redis", { env: { REDIS_URL: `redis://127.0.0.1:${server.port}` } });
});

test("tags that ddl prints start at 1", async (t) => {
  const { store, close } = await connectStore(server.port);
  t.after(close);
  const run = (script) => execFileSync("sh", ["-c", script.replaceAll("redis-cli", `redis-cli -p ${server.port}`)]);
  const replies = [];
  await checkTags("redis", store, (script) => replies.push(`${run(script)}`));
  assert.deepEqual(replies, ["made\nmade\n", "present\npresent\n"]);
});

test("docs/reference/stores/redis.md has what ddl prints", () => {
  checkPrinted("redis", /^(ACL|appendonly|appendfsync|maxmemory-policy|min-replicas)/, (line) =>
    line.replace("'>password'", ">password"),
  );
});
