import { CompareAndSetStore } from "../kit/lease/compare-and-set.js";
/** The options of a `ZooKeeperStore`. */
export interface ZooKeeperStoreOptions {
    /** The znode that has the scopes. Default: `"/frazil"`. */
    readonly prefix?: string;
    /**
     * The ACL of the znodes that the store makes, as the client has it, such as `zookeeper.ACL.CREATOR_ALL_ACL`. Every process of a
     * scope passes the same. Default: that of the znode of the record. For `init()`: everything for everybody.
     */
    readonly acl?: readonly unknown[];
    /**
     * How an ensemble that may have lost acknowledged writes is told.
     *
     * - `"epoch"` (default): by the epoch of its leader. Each election is a fence: nothing new is granted for `windowMaxMs` and 5
     *   seconds, and holders go on.
     * - `"none-accepting-repeats-after-restore"`: not at all. After a restore without `fence()`, IDs repeat.
     */
    readonly incarnation?: "epoch" | "none-accepting-repeats-after-restore";
}
/** A store whose client it may have made itself. */
export declare class ZnodeStore extends CompareAndSetStore {
    #private;
    /**
     * Closes the client that the function has made: at once if it has a session, else as soon as it gets one. A client that you
     * passed yourself stays open. Call it after `close()` of the generators, and where `lease()` rejects: a client that is open
     * keeps the process alive. Operations of the store are refused from then on.
     *
     * While no server answers, a client of `node-zookeeper-client` goes on connecting, and cannot be closed: end such a process with
     * `process.exit()`.
     */
    close(): Promise<void>;
    /** `close()`, for `await using`. */
    [Symbol.asyncDispose](): Promise<void>;
}
