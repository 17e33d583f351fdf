// The Worker of these tests in workerd, and calls of it.
import { fileURLToPath } from "node:url";
import { WorkerServer } from "../stores/workerd/server.mjs";

export { DATES } from "../stores/workerd/server.mjs";

const entry = fileURLToPath(new URL("worker.mjs", import.meta.url));

/** The address of a call of the Worker. */
export const addressOf = ({ url }, call, given = {}) =>
  new URL(`/${call}?given=${encodeURIComponent(JSON.stringify(given))}`, url);

/** Starts the Worker. `call` resolves to the result of a call, and rejects with what it threw. */
export async function startWorker(date) {
  const objects = { FRAZIL: "TestLeases", MINTING: "Minting" };
  const classes = { TestLeases: "sqlite", Minting: "sqlite" };
  const server = await WorkerServer.startWith(entry, { date, objects, classes });
  const { url } = server;
  return {
    url,
    stop: () => server.stop(),
    async call(call, given) {
      const response = await fetch(addressOf({ url }, call, given), { signal: AbortSignal.timeout(20_000) });
      const value = await response.json();
      if (response.ok) return value;
      throw Object.assign(new Error(value.error.message), value.error);
    },
  };
}
