/**
 * Leases in ZooKeeper: one znode for each node id, replaced by transactions that compare versions.
 *
 * ```js
 * import { ZooKeeperStore } from "frazil/stores/zookeeper";
 *
 * const store = new ZooKeeperStore(() => {
 *   const client = zookeeper.createClient("zk1:2181,zk2:2181,zk3:2181");
 *   client.connect();
 *   return client;
 * });
 * await store.init({ layout: "default" }); // once for each scope, by hand
 * await store.close(); // at the end: it closes the client
 * ```
 *
 * - **One transaction decides** each operation: it compares the versions of the record and the row.
 * - **Reads see the last write**: each operation writes the znode `clock` first. Later reads of the same session are at least as new, even
 *   on a follower that lags.
 * - **The clock is the leader's**, as the time of that write.
 * - **Persistent znodes only.** An ephemeral znode goes when its session ends, and that says nothing about a holder that is
 *   paused: the end of the window alone makes a node id free.
 * - **The incarnation is the epoch of the leader**, so an ensemble that was restored from a backup, or lost its last writes in a power loss
 *   of all servers, is fenced.
 *
 * Not seen: a server alone that was restored from a backup, or that lost its last writes (`forceSync=no`): a server in standalone
 * mode has no epochs. Call `fence()`.
 */
import { checkGiven } from "../kit/argument-errors.js";
import { recordOf } from "../kit/lease/requests.js";
import { UNUSED } from "../kit/lease/rules.js";
import { newScope } from "../kit/lease/scope-record.js";
import type { InitOptions } from "../lease-store.js";
import type { ZooKeeperClient } from "./session.js";
import {
  pathsOf,
  prefixOf,
  textOfRecord,
  ZnodeStore,
  type ZooKeeperStoreOptions,
  ZooKeeperTable,
  znodesOf,
} from "./table.js";

export type * from "../lease-store.js";
export { type AdoptOptions, LeafStore, type LeafStoreOptions } from "./meituan-leaf.js";
export type { ZooKeeperClient, ZooKeeperTransaction } from "./session.js";
export type { ZooKeeperStoreOptions } from "./table.js";

const OPTIONS = "prefix, acl, incarnation";

/** Leases in the znodes of ZooKeeper. */
export class ZooKeeperStore extends ZnodeStore {
  /**
   * Checks what it is given. It sends nothing.
   *
   * `client`: a client of `node-zookeeper-client`, or a function that returns one, for a program that runs for months: a client is
   * dead after its session expired, and the function is called for another one, which no other part of the program uses. The store closes a
   * client of the function that it gives up, and the last one with `close()`.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for something that is no client; `INVALID_OPTION`.
   */
  constructor(
    client: ZooKeeperClient | (() => ZooKeeperClient | Promise<ZooKeeperClient>),
    options: ZooKeeperStoreOptions = {},
  ) {
    super("zookeeper", new ZooKeeperTable(client, checkGiven(options, OPTIONS)));
  }
}

/**
 * What `init` does, as commands of zkCli for people to run: the znodes and the record of a scope. The epoch is not known here;
 * the first holder sets it.
 *
 * @internal
 */
export function zookeeperDdl(
  options: InitOptions,
  store: Pick<ZooKeeperStoreOptions, "prefix"> & { acl?: string } = {},
): string {
  const { acl } = store;
  const prefix = prefixOf(store.prefix);
  const record = recordOf(options);
  const paths = pathsOf(prefix, record.scope);
  const znodes = znodesOf(prefix, paths);
  const creates = znodes.map((path) => (acl === undefined ? `create ${path}` : `create ${path} "" ${acl}`));
  return [...creates, `set -v 0 ${paths.record} '${textOfRecord(newScope(record, UNUSED))}'`, ""].join("\n");
}
