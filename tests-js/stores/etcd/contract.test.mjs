// The contract against a real etcd: a member whose data is restored from a snapshot, with another token and with the same one.
import { leaseContract } from "frazil/testing/lease-contract";
import { connectStore, movableFetch, startServer } from "./server.mjs";

for (const sameToken of [false, true]) {
  // docs/internals/claims.md: 22, 25, 26, 27
  leaseContract({
    name: `etcd ${sameToken ? "restored with the same token" : "restored with another token"}`,
    async open() {
      const server = await startServer();
      const { fetch, jump } = movableFetch();
      // A store that is slow is another test's subject.
      const connect = async () => (await connectStore(server.port, { fetch, timeoutMs: 60_000 })).store;
      const store = await connect();
      let restores = 0;
      return {
        store,
        init: (scope) => store.init({ ...scope, layout: "default" }),
        connect,
        jumpClock: jump,
        async changeIncarnation() {
          const file = server.save();
          // Lost: the store has seen a later revision.
          await store.init({ scope: `lost-${restores}`, layout: "default" });
          await server.restore(file, sameToken ? {} : { token: `restored-${++restores}` });
        },
        stop: () => server.stop(),
        start: () => server.start(),
        close: () => server.stop(),
      };
    },
  });
}
