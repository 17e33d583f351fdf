// The contract against real ZooKeeper servers: one in standalone mode, and one with epochs.
import { after, test } from "node:test";
import { Bench, leaseContract, scenarios } from "frazil/testing/lease-contract";
import zookeeper from "node-zookeeper-client";
import { mappedClocks } from "../../processes/movable-clock.mjs";
import { call, connectClient, connectStore, startServer } from "./server.mjs";

/** A store on a server, and what the contract does to it. */
async function opened(server, options) {
  const stores = [await connectStore(server.port, options)];
  const [{ store }] = stores;
  return {
    store,
    init: (scope) => store.init({ ...scope, layout: "default" }),
    async connect() {
      const other = await connectStore(server.port, options);
      stores.push(other);
      return other.store;
    },
    async close() {
      await Promise.all(stores.map((each) => each.close()));
      await server.stop();
    },
  };
}

// docs/internals/claims.md: 22, 25, 26, 27
leaseContract({
  name: "a server in standalone mode",
  async open() {
    const server = await startServer();
    return { ...(await opened(server)), stop: () => server.stop(), start: () => server.start() };
  },
});

// docs/internals/claims.md: 22, 25, 26, 27
leaseContract({
  name: "a server with epochs, in a chroot, with a prefix and an ACL",
  async open() {
    const server = await startServer({ isQuorum: true });
    const administrator = await connectClient(server.port);
    await call(administrator, "create", "/apps");
    administrator.close();
    const client = { chroot: "/apps", auth: "ids:secret" };
    const rest = await opened(server, { prefix: "/our/ids", acl: zookeeper.ACL.CREATOR_ALL_ACL, client });
    const changeIncarnation = async () => {
      await server.stop();
      await server.start();
    };
    return { ...rest, changeIncarnation };
  },
});

// One scenario alone, in a server of its own.
const name = "a jump of the store's clock costs time only";
test(name, async () => {
  const { env, jump } = mappedClocks();
  const server = await startServer({ env });
  const open = await opened(server);
  after(() => open.close());
  await scenarios.find((scenario) => scenario.name === name).run(new Bench({ ...open, jumpClock: jump }));
});
