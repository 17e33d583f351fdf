// The same program as a server of Node: node ids and links in Postgres. Start as many as you like; each leases a node id.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { lease } from "frazil/lease";
import { PostgresStore } from "frazil/stores/postgres";
import pg from "pg";
import { clientOf } from "../app/client.mjs";
import { linksIn } from "../app/links.mjs";
import { handle } from "../app/shortener.mjs";

const file = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const page = file("../app/page.html");
const { PORT = "8787", HOST = "127.0.0.1", DATABASE_URL } = process.env;

const pool = new pg.Pool({ connectionString: DATABASE_URL });
const store = new PostgresStore(pool);
await store.migrate();
await pool.query(file("schema.sql"));
if (process.argv.includes("--init")) await store.init({ layout: "edge" });

const ids = await lease(store, { layout: "edge" });
// Postgres calls the first value $1.
const links = linksIn(async (sql, values) => (await pool.query(sql.replaceAll("?", "$"), values)).rows);
const later = (promise) => void promise.catch((error) => console.error("a visit was not stored:", error));

const server = createServer(async (incoming, outgoing) => {
  try {
    const { method, headers, url } = incoming;
    const hasBody = method !== "GET" && method !== "HEAD";
    const request = new Request(new URL(url, `http://${headers.host}`), {
      method,
      headers: new Headers(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      ...(hasBody && { body: Readable.toWeb(incoming), duplex: "half" }),
    });
    const client = await clientOf(incoming.socket.remoteAddress);
    const response = await handle(request, { page, links, ids: async () => ids, later, client });
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  } catch (error) {
    console.error(error);
    outgoing.writeHead(500, { "content-type": "text/plain" }).end("Something went wrong.\n");
  }
});
server.listen(Number(PORT), HOST, () => console.log(`http://${HOST}:${server.address().port}`));

for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, async () => {
    server.close();
    // The node id is free at once. Without this it is free after its window.
    await ids.close();
    await pool.end();
  });
