// docs/stores/redis.md as it is printed.
import { after, test } from "node:test";
import { checkPrinted, runPage } from "../page.mjs";
import { startServer } from "./server.mjs";

let server;
after(() => server?.stop());

test("the programs of docs/stores/redis.md run as they are printed, at every start", async () => {
  server = await startServer();
  await runPage("redis", { env: { REDIS_URL: `redis://127.0.0.1:${server.port}` } });
});

test("docs/stores/redis.md has what ddl prints", () => {
  checkPrinted("redis", /^(ACL|appendonly|appendfsync|maxmemory-policy|min-replicas)/, (line) =>
    line.replace("'>password'", ">password"),
  );
});
