// The servers of all stores, for suites that run with each of them. Every module has `startServer()` and `connectStore(port)`.
const MODULES = {
  postgres: "postgres-server.mjs",
  mysql: "mysql/server.mjs",
  redis: "redis/server.mjs",
  etcd: "etcd/server.mjs",
  zookeeper: "zookeeper/server.mjs",
};

export const STORES = Object.keys(MODULES);

/** The address of the module of a store's server. */
export function serverModule(store) {
  if (!STORES.includes(store)) throw new Error(`there is no store ${store}: one of ${STORES.join(", ")}`);
  return new URL(MODULES[store], import.meta.url).href;
}
