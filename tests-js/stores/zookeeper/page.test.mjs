// docs/reference/stores/zookeeper.md as printed.
import { after, test } from "node:test";
import { checkPrinted, runPage } from "../kit/page.mjs";
import { startServer } from "./server.mjs";

let server;
after(() => server?.stop());

test("the programs of docs/reference/stores/zookeeper.md run as they are printed, at every start", async () => {
  server = await startServer();
  await runPage("zookeeper", { env: { ZOOKEEPER: `127.0.0.1:${server.port}` } });
});

test("docs/reference/stores/zookeeper.md has what ddl prints", () => {
  checkPrinted("zookeeper", /^(create|set) /);
});
