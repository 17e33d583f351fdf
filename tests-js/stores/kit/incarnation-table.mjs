// A separate server for the contract of a store in SQL: its clock is moved, and its incarnation is a value in a table.

/**
 * Starts a server with `start(env)`, whose clock is `newClock()`, and returns what the contract asks for. `query(server, sql)` runs
 * statements, `poolTo(server)` makes a pool, and `connect(server)` a connection; `Store` is the class of the store on both.
 */
export async function openWithIncarnation({ Store, newClock, start, query, poolTo, connect }) {
  const { env, jump } = newClock();
  const server = await start(env);
  await query(server, "CREATE TABLE incarnation (value bigint); INSERT INTO incarnation VALUES (1)");
  const options = { incarnation: { sql: "SELECT value FROM incarnation" } };
  const pool = poolTo(server);
  const store = new Store(pool, options);
  await store.migrate();
  const clients = [];
  return {
    store,
    init: (scope) => store.init({ ...scope, layout: "default" }),
    async connect() {
      const client = await connect(server);
      clients.push(client);
      return new Store(client, options);
    },
    jumpClock: jump,
    changeIncarnation: () => query(server, "UPDATE incarnation SET value = value + 1"),
    stop: () => server.stop(),
    start: () => server.start(),
    async close() {
      await Promise.all(clients.map((client) => client.end().catch(() => {})));
      await pool.end().catch(() => {});
      await server.stop();
    },
  };
}
