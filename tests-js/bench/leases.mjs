// What the operations of lease stores cost on this machine: milliseconds, and how acquiring grows with the rows.
//
//   node tests-js/bench/leases.mjs              every store, after `npm test -- stores-postgres` and the like have installed the servers
//   node tests-js/bench/leases.mjs postgres     one of them
//
// The server is on this host, so a round trip costs little and the flush to disk most. `ensure` changes nothing here: it is a
// read. Half of the node ids are held; the rest were released.
import { randomBytes } from "node:crypto";
import { Layout } from "frazil";
import { layoutText } from "frazil/lease";
import { STORES, serverModule } from "../stores/all-stores.mjs";

const ROUNDS = 200;
const SIZES = [64, 1024];
/** How many processes start at once. */
const CLIENTS = 64;
const DAY_MS = 24 * 60 * 60 * 1000;

const hex = () => randomBytes(16).toString("hex");
const layout = layoutText(Layout.named("default"));
const quantile = (values, q) => values.toSorted((a, b) => a - b)[Math.floor(q * (values.length - 1))];

async function acquire(store, scope, windowMs) {
  const request = { scope, grant: hex(), nonce: hex(), windowMs, layout, owner: "bench" };
  const lease = await store.acquire(request);
  if (!lease.granted) throw new Error(JSON.stringify(lease));
  return { ...request, ...lease };
}

const releaseOf = ({ scope, grant, node, untilMs }) => ({ scope, grant, node, untilMs: 0, heldUntilMs: untilMs });

/** Makes the rows of a scope, by as many clients at once. Returns the seconds that took. */
async function fill(stores, scope, size) {
  const held = [];
  let left = size;
  const started = performance.now();
  await Promise.all(
    stores.map(async (store) => {
      while (left-- > 0) held.push(await acquire(store, scope, DAY_MS));
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  const nodes = new Set(held.map(({ node }) => node));
  if (nodes.size !== size) throw new Error(`${held.length} grants of ${nodes.size} node ids`);
  for (const lease of held.filter(({ node }) => node % 2 === 1)) await stores[0].release(releaseOf(lease));
  return seconds;
}

async function measure(name) {
  const { startServer, connectStore } = await import(serverModule(name));
  const server = await startServer();
  const connections = await Promise.all(Array.from({ length: CLIENTS }, () => connectStore(server.port)));
  const stores = connections.map(({ store }) => store);
  const [store] = stores;
  await store.migrate?.();
  const times = {};
  const timed = async (operation, work) => {
    const started = performance.now();
    const result = await work();
    times[operation] ??= [];
    times[operation].push(performance.now() - started);
    return result;
  };
  let seconds = 0;
  for (const size of SIZES) {
    await store.init({
      scope: `rows${size}`,
      layout: "default",
      nodes: { from: 0, to: size - 1 },
      windowMaxMs: DAY_MS,
    });
    seconds = await fill(stores, `rows${size}`, size);
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const size of SIZES) {
      const scope = `rows${size}`;
      await timed(`ensure, ${size} rows`, () => store.ensure({ scope, behind: false }));
      const lease = await timed(`acquire, ${size} rows`, () => acquire(store, scope, 30_000));
      const renewal = { ...lease, nonce: hex() };
      const renewed = await timed(`renew, ${size} rows`, () => store.renew(renewal));
      if (!renewed.granted) throw new Error(JSON.stringify(renewed));
      await timed(`release, ${size} rows`, () => store.release(releaseOf({ ...lease, untilMs: renewed.untilMs })));
    }
  }
  await Promise.all(connections.map(({ close }) => close()));
  await server.stop();
  for (const [operation, values] of Object.entries(times)) {
    const [p50, p99] = [0.5, 0.99].map((q) => quantile(values, q).toFixed(2));
    process.stdout.write(`| ${name} | ${operation} | ${p50} | ${p99} |\n`);
  }
  const rate = Math.round(SIZES.at(-1) / seconds);
  process.stdout.write(`| ${name} | ${SIZES.at(-1)} node ids to ${CLIENTS} clients | ${rate} a second | |\n`);
}

process.stdout.write("| store | operation | p50 ms | p99 ms |\n|---|---|---|---|\n");
for (const name of process.argv.length > 2 ? process.argv.slice(2) : STORES) await measure(name);
