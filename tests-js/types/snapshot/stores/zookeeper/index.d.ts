import type { ZooKeeperClient } from "./session.js";
import { ZnodeStore, type ZooKeeperStoreOptions } from "./table.js";
export type * from "../lease-store.js";
export { type AdoptOptions, LeafStore, type LeafStoreOptions } from "./leaf.js";
export type { ZooKeeperClient, ZooKeeperTransaction } from "./session.js";
export type { ZooKeeperStoreOptions } from "./table.js";
/** Leases in the znodes of ZooKeeper. */
export declare class ZooKeeperStore extends ZnodeStore {
    /**
     * Checks what it is given. It sends nothing.
     *
     * `client`: a client of `node-zookeeper-client`, or a function that returns one, for a program that runs for months: a client is
     * dead after its session expired, and the function is called for another one, which no other part of the program uses. The store closes a
     * client of the function that it gives up, and the last one with `close()`.
     *
     * @throws {ConfigError} `INVALID_ARGUMENT` for something that is no client; `INVALID_OPTION`.
     */
    constructor(client: ZooKeeperClient | (() => ZooKeeperClient | Promise<ZooKeeperClient>), options?: ZooKeeperStoreOptions);
}
