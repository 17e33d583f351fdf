// A server that mints by leases beside servers of Leaf, and appends what it mints to a file. Options as JSON: port (of
// ZooKeeper), leafName, scope, out, isPlain (broken: node ids without the numbering of Leaf).
import { openSync, writeSync } from "node:fs";
import { lease } from "frazil/lease";
import { LeafStore, ZooKeeperStore } from "frazil/stores/zookeeper";
import zookeeper from "node-zookeeper-client";

const { port, leafName, scope, out, isPlain } = JSON.parse(process.argv[2]);
const report = (event, more) => process.stdout.write(`${JSON.stringify({ event, ...more })}\n`);
const connect = () => {
  const client = zookeeper.createClient(`127.0.0.1:${port}`, { sessionTimeout: 4000, spinDelay: 50 });
  client.connect();
  return client;
};
const store = isPlain ? new ZooKeeperStore(connect) : new LeafStore(connect, { leafName });
let ids;
while (ids === undefined) {
  try {
    ids = await lease(store, { scope, layout: "leaf", windowMs: 2000 });
  } catch (error) {
    if (!error.retryable) throw error;
  }
}
report("new", { workerId: ids.node });
const file = openSync(out, "a");
const timer = setInterval(() => {
  try {
    writeSync(file, ids.fill(new BigUint64Array(100)));
  } catch (error) {
    if (!error.retryable) throw error;
  }
}, 2);
process.once("SIGTERM", async () => {
  clearInterval(timer);
  await ids.close();
  process.exit();
});
