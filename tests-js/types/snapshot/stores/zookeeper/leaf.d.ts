/**
 * Leases beside the Java servers of Meituan Leaf: node ids come from Leaf's own numbering, so that both mint at the same time
 * and no ID repeats.
 *
 * - **A new node id is a number that Leaf's folder hands out**: a znode that Leaf's servers read as one of theirs. ZooKeeper
 *   never hands out a number twice, so no Java server has it, or gets it later.
 * - **A number of a Java server is never granted.** A server that has lost ZooKeeper mints on, by the number in its local file.
 *   `adopt` hands over the number of one that was stopped for good.
 * - **Number 0 is never taken**: a server that finds no folder makes it, and uses 0 whatever its number is.
 * - **The znode in Leaf's folder has the end of the window as its time**, so Leaf's start check says no until then.
 */
import { type ZooKeeperClient } from "./session.js";
import { ZnodeStore, type ZooKeeperStoreOptions } from "./table.js";
/** The options of a `LeafStore`. */
export interface LeafStoreOptions extends ZooKeeperStoreOptions {
    /** `leaf.name` of the Java servers: their znodes are in `/snowflake/<leaf.name>/forever`. */
    readonly leafName: string;
}
/** What `adopt` is given. */
export interface AdoptOptions {
    /** Default: `"default"`. */
    readonly scope?: string;
    /** The number of the server. */
    readonly node: number;
    /** Its address, as the name of its znode has it, such as `"10.0.0.7:8080"`. */
    readonly address: string;
}
/** Leases beside the Java servers of Meituan Leaf, in the same ZooKeeper. */
export declare class LeafStore extends ZnodeStore {
    #private;
    /**
     * Checks what it is given. It sends nothing. `client`: as for `ZooKeeperStore`.
     *
     * @throws {ConfigError} `INVALID_ARGUMENT` for something that is no client; `INVALID_OPTION`.
     */
    constructor(client: ZooKeeperClient | (() => ZooKeeperClient | Promise<ZooKeeperClient>), options: LeafStoreOptions);
    /**
     * Hands over the number of a Java server that is stopped for good: its znode becomes one of this store. Resolves to the time
     * from which it is granted, in Unix milliseconds.
     *
     * You promise that the server does not run, and that its file `workerID.properties` is gone: a server without ZooKeeper mints by
     * the number in that file. If it is started with ZooKeeper again, it gets another number.
     *
     * @throws {ConfigError} `STATE_CONFLICT` if the server wrote within the last five minutes; `INVALID_ARGUMENT`.
     * @throws {LeaseError} `STORE_NOT_INITIALISED`, `STORE_REFUSED`, `STORE_UNAVAILABLE`.
     */
    adopt(options: AdoptOptions): Promise<number>;
    /**
     * Ends the time of the move: the store numbers new node ids itself, beyond the largest number of Leaf's folder. Holders go on,
     * and nothing is read or written there any more. Call it when no Java server runs, and none can start. Numbers of Java servers
     * stay unused, unless `adopt` took them over before.
     *
     * @throws {ConfigError} `STATE_CONFLICT` if a Java server wrote within the last five minutes, or the scope numbers by itself.
     * @throws {LeaseError} `STORE_NOT_INITIALISED`, `STORE_REFUSED`, `STORE_UNAVAILABLE`.
     */
    leave(options?: {
        readonly scope?: string;
    }): Promise<void>;
}
