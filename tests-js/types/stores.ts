// The types of the stores, for programs on Node: the client of ZooKeeper has Buffers.
import { type InitOptions, type LeaseStore, lease, type ManagedStore } from "frazil/lease";
import type { D1Store } from "frazil/stores/d1";
import { DocumentStore, type Documents } from "frazil/stores/document";
import type { EtcdStore } from "frazil/stores/etcd";
import { type MySqlInitOptions, MySqlStore } from "frazil/stores/mysql";
import { PostgresStore } from "frazil/stores/postgres";
import type { RedisStore } from "frazil/stores/redis";
import type { SqliteStore } from "frazil/stores/sqlite";
import type { LeafStore, ZooKeeperStore } from "frazil/stores/zookeeper";
import { type ManagedSegmentStore, type MemoryLeaseStore, MemorySegmentStore } from "frazil/testing";
import { leaseContract } from "frazil/testing/lease-contract";
import { DurableObjectStore, type FrazilLeases, type LocationHint, locationHintOf } from "frazil/workers";
import { check, type Equal } from "./equal.js";

// Every store of the package is set up in the same way.
type Stores = readonly [
  ...[EtcdStore, MySqlStore, PostgresStore, RedisStore, SqliteStore, LeafStore, ZooKeeperStore],
  ...[DurableObjectStore, D1Store, MemoryLeaseStore],
];

async function setUp(stores: Stores, init: InitOptions): Promise<void> {
  for (const managed of stores satisfies readonly ManagedStore[]) {
    await managed.init(init);
    check<Equal<ReturnType<typeof managed.fence>, Promise<number>>>();
    await lease(managed);
  }
  const [etcd, mysql] = stores;
  await mysql.migrate();
  // @ts-expect-error: etcd has no tables
  await etcd.migrate();
  const moving: MySqlInitOptions = { layout: "baidu", nodeIdsFrom: { workerNode: "WORKER_NODE" } };
  await mysql.init(moving);
  // @ts-expect-error: the table of another generator is in MySQL
  await etcd.init({ layout: "baidu", nodeIdsFrom: { workerNode: "WORKER_NODE" } });
}

// A store of one's own, and its test as docs/reference/stores.md has it.
const documents: Documents = {
  read: async (keys) => ({ texts: keys.map(() => null), nowMs: 1, incarnation: "1" }),
  replace: async (changes, incarnation) => changes.every(({ seen }) => seen === null) && incarnation === "1",
};
leaseContract({
  name: "documents",
  async open() {
    const store = new DocumentStore(documents);
    return { store, init: (scope) => store.init({ ...scope, layout: "default" }) };
  },
});

// As in the declarations of Cloudflare: a namespace of any class, and a class with the brand.
declare const namespace: {
  idFromName(name: string): { name?: string };
  get(id: { name?: string }): { fetch(): unknown };
};
const objects = new DurableObjectStore(namespace, { locationHint: locationHintOf({ continent: "EU" }) });
check<Equal<ReturnType<typeof locationHintOf>, LocationHint | undefined>>();
check<Equal<FrazilLeases["__DURABLE_OBJECT_BRAND"], never>>();
// @ts-expect-error: a namespace is the binding itself
new DurableObjectStore({ FRAZIL: namespace });
// @ts-expect-error: no hint
new DurableObjectStore(namespace, { locationHint: "mars" });

const segments = new MemorySegmentStore();
check<Equal<typeof segments extends ManagedSegmentStore ? true : false, true>>();

declare const own: LeaseStore;
// @ts-expect-error: a store of one's own need not have `init` and `fence`
const managed: ManagedStore = own;

/** What a `Pool` of `pg` has, and what one of `mysql2` and `mariadb` has, as far as it matters. Their own types were checked by hand. */
interface PgPool {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  query(config: object): Promise<{ rows: unknown[] }>;
  readonly waitingCount: number;
}
interface MySqlPool {
  // biome-ignore lint/suspicious/noExplicitAny: as mysql2 declares it
  query(statement: any, values?: any): Promise<unknown>;
  escapeId(name: string): string;
}

function clients(pg: PgPool, mysql: MySqlPool): void {
  new PostgresStore(pg);
  new MySqlStore(mysql);
  new PostgresStore({ query: (text, values) => pg.query(text, values) });
  new MySqlStore({ query: (statement, values) => mysql.query(statement, values) });
  // @ts-expect-error: a pool of MySQL
  new PostgresStore(mysql);
  // @ts-expect-error: a pool of Postgres
  new MySqlStore(pg);
}

export { clients, managed, objects, setUp };
