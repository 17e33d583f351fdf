// A lease in Deno without permissions: neither the host name nor the environment may be read.
import { lease, preferredNode } from "frazil/lease";

const owners = [];
const now = Date.now();
const window = { node: 5, fromMs: now - 5000, untilMs: now + 30_000, storeNowMs: now };
const store = {
  name: "fixed",
  acquire: async ({ grant, owner }) => owners.push(owner) && { granted: true, grant, ...window },
  renew: async () => ({ granted: false, reason: "taken" }),
  release: async () => {},
  ensure: async () => {},
};
const ids = await lease(store, { renew: "calls", node: preferredNode() });
console.log(JSON.stringify({ id: ids.nextString(), owners, preferred: preferredNode() ?? "none" }));
await ids.close();
