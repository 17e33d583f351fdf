import { type ZooKeeperClient } from "./session.js";
import { ZnodeStore, type ZooKeeperStoreOptions } from "./table.js";
export interface LeafStoreOptions extends ZooKeeperStoreOptions {
    readonly leafName: string;
}
export interface AdoptOptions {
    readonly scope?: string;
    readonly node: number;
    readonly address: string;
}
export declare class LeafStore extends ZnodeStore {
    #private;
    constructor(client: ZooKeeperClient | (() => ZooKeeperClient | Promise<ZooKeeperClient>), options: LeafStoreOptions);
    adopt(options: AdoptOptions): Promise<number>;
    leave(options?: {
        readonly scope?: string;
    }): Promise<void>;
}
