// server.mjs
import { createServer } from "node:http";
import { lease } from "frazil/lease";
import { PostgresStore } from "frazil/stores/postgres";
import pg from "pg";

const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: 2,
  maxUses: 1, // a connection that is kept is dead after the process was stopped
  connectionTimeoutMillis: 2000,
  query_timeout: 2000,
});
pool.on("error", console.error);

const ids = await lease(new PostgresStore(pool), { renew: "calls", windowMs: 3000 });

const server = createServer(async (request, response) => {
  try {
    await ids.ready();
    response.end(ids.nextString());
  } catch (error) {
    console.error(error);
    response.writeHead(503, { "retry-after": Math.ceil((error.retryAfterMs ?? 1000) / 1000) }).end();
  }
});
server.listen(process.env.PORT ?? 8080);

process.once("SIGTERM", async () => {
  // A connection without a request, or with half of one, would keep the server open for longer than the ten seconds.
  setTimeout(() => server.closeAllConnections(), 3000).unref();
  await new Promise((resolve) => server.close(resolve)); // first the requests
  await ids.close(); // then the node id is free
  await pool.end();
});
