import type { ZooKeeperClient } from "./session.js";
import { ZnodeStore, type ZooKeeperStoreOptions } from "./table.js";
export type * from "../lease-store.js";
export { type AdoptOptions, LeafStore, type LeafStoreOptions } from "./meituan-leaf.js";
export type { ZooKeeperClient, ZooKeeperTransaction } from "./session.js";
export type { ZooKeeperStoreOptions } from "./table.js";
export declare class ZooKeeperStore extends ZnodeStore {
    constructor(client: ZooKeeperClient | (() => ZooKeeperClient | Promise<ZooKeeperClient>), options?: ZooKeeperStoreOptions);
}
