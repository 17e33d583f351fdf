// The contracts of leases and segments against an object of the shipped class, in workerd, at both compatibility dates.
import { leaseContract } from "frazil/testing/lease-contract";
import { segmentContract } from "frazil/testing/segment-contract";
import { initIn } from "../kit/segments.mjs";
import { DATES, WorkerServer } from "../workerd/server.mjs";

/** The contract chooses its node ids. */
const options = { nodes: { from: 0, to: 1023 } };

/** A Worker whose objects have the scopes of the contract. */
async function open(given) {
  const server = await WorkerServer.start(given);
  const store = server.store("OBJECTS", options);
  return {
    store,
    beginsScopes: true,
    init: (scope) => store.init({ ...scope, layout: "default" }),
    jumpClock: (ms) => server.call("jump", { ms }),
    stop: () => server.kill(),
    start: () => server.start(),
    close: () => server.stop(),
  };
}

for (const date of DATES) {
  // docs/internals/claims.md: 22, 25, 26, 27
  leaseContract({ name: `an object, ${date}`, open: () => open({ date }) });

  // docs/internals/claims.md: 28
  segmentContract({
    name: `segments in objects, ${date}`,
    async open() {
      const server = await WorkerServer.start({ date });
      const store = server.store("OBJECTS");
      return { store, init: initIn(store), close: () => server.stop() };
    },
  });
}
