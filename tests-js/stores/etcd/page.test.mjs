// docs/reference/stores/etcd.md as printed.
import { after, test } from "node:test";
import { checkPrinted, runPage } from "../kit/page.mjs";
import { startServer } from "./server.mjs";

let server;
after(() => server?.stop());

test("the programs of docs/reference/stores/etcd.md run as they are printed, at every start", async () => {
  server = await startServer();
  await runPage("etcd", { env: { ETCD_ENDPOINTS: server.url } });
});

test("docs/reference/stores/etcd.md has what ddl prints", () => {
  checkPrinted("etcd", /^etcdctl (role|user)/);
});
