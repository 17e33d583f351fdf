// The Worker of these tests in workerd, and calls of it.
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { WorkerServer } from "../stores/workerd/server.mjs";

export { DATES } from "../stores/workerd/server.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The address of a call of the Worker. */
export const addressOf = ({ url }, call, given = {}) =>
  new URL(`/${call}?given=${encodeURIComponent(JSON.stringify(given))}`, url);

/** Makes a request. Returns a call that resets its connection, so that the runtime cancels it. */
export function cancellable({ hostname, port, pathname, search }) {
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: frazil.test\r\n\r\n`);
  return () => socket.resetAndDestroy();
}

const classes = { TestLeases: "sqlite", Minting: "sqlite", Odd: "sqlite" };

/** Starts the Worker of leases. `call` resolves to the result of a call, and rejects with what it threw. */
export const startWorker = (date) =>
  startWith("leased-worker.mjs", {
    date,
    objects: { FRAZIL: "TestLeases", MINTING: "Minting", ODD: "Odd" },
    classes,
    databases: { DB: "frazil" },
  });

/** Starts the Worker of segments. */
export const startSegments = (date) =>
  startWith("segmented-worker.mjs", {
    date,
    objects: { FRAZIL: "TestLeases", NUMBERING: "Numbering" },
    classes: { TestLeases: "sqlite", Numbering: "sqlite" },
    databases: { DB: "frazil" },
  });

/** Starts the Worker that has two instances of the core. */
export const startTwoCores = (date) =>
  startWith("two-cores-worker.mjs", {
    date,
    objects: { FRAZIL: "FrazilLeases" },
    classes: { FrazilLeases: "sqlite" },
  });

async function startWith(entry, options) {
  const server = await WorkerServer.startWith(path(entry), options);
  return {
    get url() {
      return server.url;
    },
    get megabytes() {
      return server.megabytes;
    },
    stop: () => server.stop(),
    /** Kills workerd, and starts it again on the same storage. */
    async restart() {
      await server.kill();
      await server.start();
    },
    async call(call, given) {
      const response = await fetch(addressOf(server, call, given));
      const value = await response.json();
      if (response.ok) return value;
      throw Object.assign(new Error(value.error.message), value.error);
    },
  };
}
