import { CompareAndSetStore } from "../kit/lease/compare-and-set.js";
export interface ZooKeeperStoreOptions {
    readonly prefix?: string;
    readonly acl?: readonly unknown[];
    readonly incarnation?: "epoch" | "none-accepting-repeats-after-restore";
}
export declare class ZnodeStore extends CompareAndSetStore {
    #private;
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}
