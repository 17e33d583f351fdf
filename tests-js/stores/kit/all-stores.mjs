// The servers of all stores, for suites that run with each of them. Every one has a module `STORE/server.mjs` with `startServer()`
// and `connectStore(port)`.

export const STORES = ["postgres", "mysql", "redis", "etcd", "zookeeper"];

/** The address of the module of a store's server. */
export function serverModule(store) {
  if (!STORES.includes(store)) throw new Error(`there is no store ${store}: one of ${STORES.join(", ")}`);
  return new URL(`../${store}/server.mjs`, import.meta.url).href;
}
