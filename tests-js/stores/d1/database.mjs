// A D1 database with the tables, in a Worker.
import { WorkerServer } from "../workerd/server.mjs";

export async function open(given) {
  const server = await WorkerServer.start(given);
  const store = server.store("D1");
  await store.migrate();
  return {
    server,
    store,
    init: (scope) => store.init({ ...scope, layout: "default" }),
    stop: () => server.kill(),
    start: () => server.start(),
    close: () => server.stop(),
  };
}
