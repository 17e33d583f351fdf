// The same program as a server of Node: node ids and links in Postgres. Start as many as you like; each leases a node id.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { lease } from "frazil/lease";
import { PostgresStore } from "frazil/stores/postgres";
import pg from "pg";
import { clientOf } from "../app/clients.mjs";
import { linksIn } from "../app/links.mjs";
import { handle } from "../app/shortener.mjs";
import { addressOf, cannotListen, originOf, portOf } from "./origin.mjs";

const file = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const page = file("../app/page.html");
const { PORT = "8787", HOST = "127.0.0.1", ORIGIN, DATABASE_URL } = process.env;
/** The time for open requests, and for work after their answers, when the server stops. */
const STOP_MS = 10_000;
/** A second signal after this time comes from a person who does not want to wait. */
const REPEATED_MS = 250;
// Checked before a node id is leased.
const publicOrigin = ORIGIN === undefined ? undefined : originOf(ORIGIN);
const port = portOf(PORT);
addressOf(HOST, port);

const pool = new pg.Pool({ connectionString: DATABASE_URL });
// An idle connection has failed, for example because Postgres restarts. The pool opens another one when needed.
pool.on("error", (error) => console.error("a connection has ended:", error.message));
const store = new PostgresStore(pool);
await store.migrate();
await pool.query(file("schema.sql"));
if (process.argv.includes("--init")) await store.init({ layout: "edge" });

const ids = await lease(store, { layout: "edge" });
/** The Unix time of Postgres in milliseconds, the same wherever it stands in a statement. */
const NOW_MS = "CAST(extract(epoch FROM statement_timestamp()) * 1000 AS BIGINT)";
// Postgres calls the first value $1.
const run = async (sql, values) => (await pool.query(sql.replaceAll("?", "$"), values)).rows;
const links = linksIn(run, { nowMs: NOW_MS });

/** Requests, and work after their answers. */
const underWay = new Set();
function later(promise) {
  const ended = promise.catch((error) => console.error(error)).finally(() => underWay.delete(ended));
  underWay.add(ended);
}

// The address in links does not come from the request, whose Host header may say anything.
let ownOrigin;
const origin = () => ownOrigin;

async function answer(incoming, outgoing) {
  const { url } = incoming;
  // The part of a `Request` that the program reads. The class itself refuses methods such as TRACE.
  const request = {
    method: incoming.method,
    // Proxies may send a whole URL.
    url: url.startsWith("/") ? `http://${incoming.headers.host}${url}` : url,
    headers: new Headers({ "content-type": incoming.headers["content-type"] ?? "" }),
    body: incoming,
  };
  const client = clientOf(incoming.socket.remoteAddress ?? "");
  const response = await handle(request, { page, origin, links, ids: async () => ids, later, client });
  // A stopping server takes no more requests on this connection either.
  if (!server.listening) outgoing.setHeader("connection", "close");
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(Buffer.from(await response.arrayBuffer()));
}

const server = createServer((incoming, outgoing) => later(answer(incoming, outgoing)));
server.once("error", (error) => {
  console.error(cannotListen({ HOST, PORT }, error));
  process.exitCode = 1;
  end();
});
server.listen(port, HOST, () => {
  // For port 0, the one that the system chose.
  const address = addressOf(HOST, server.address().port);
  ownOrigin = publicOrigin ?? address;
  console.log(address);
});

/** Each step needs the resources that later ones close. */
async function stop() {
  const closed = new Promise((resolve) => server.close(resolve));
  setTimeout(() => {
    const what = `${underWay.size} requests or visits did not end within ${STOP_MS / 1000} s`;
    console.error(`${what}. The server ends without them; its node id is free after its window.`);
    process.exit(1);
  }, STOP_MS).unref();
  await closed;
  while (underWay.size > 0) await Promise.all(underWay);
  // The node id is free at once. Without this it is free after its window.
  await ids.close();
  await pool.end();
}
const end = () =>
  stop().catch((error) => {
    console.error(error);
    process.exit(1);
  });
let stopping;
for (const signal of ["SIGINT", "SIGTERM"])
  process.on(signal, () => {
    if (stopping === undefined) {
      stopping = performance.now();
      end();
      return;
    }
    // npm repeats the signal of a terminal at once.
    if (performance.now() - stopping < REPEATED_MS) return;
    console.error("a second signal: the server ends at once; its node id is free after its window.");
    process.exit(1);
  });
