// The contracts of leases and segments against a D1 database in workerd, at both compatibility dates.
import { leaseContract } from "frazil/testing/lease-contract";
import { segmentContract } from "frazil/testing/segment-contract";
import { initIn } from "../kit/segments.mjs";
import { DATES } from "../workerd/server.mjs";
import { open } from "./database.mjs";

for (const date of DATES) {
  // docs/internals/claims.md: 22, 25, 26, 27
  leaseContract({ name: `D1, ${date}`, open: () => open({ date }) });

  // docs/internals/claims.md: 28
  segmentContract({
    name: `segments in D1, ${date}`,
    async open() {
      const { store, close } = await open({ date });
      return { store, init: initIn(store), close };
    },
  });
}
