import { CompareAndSetStore } from "../kit/lease/compare-and-set.js";
import { type EtcdStoreOptions } from "./gateway.js";
export type * from "../lease-store.js";
export type { EtcdRequestInit, EtcdResponse, EtcdStoreOptions } from "./gateway.js";
export declare class EtcdStore extends CompareAndSetStore {
    constructor(options: EtcdStoreOptions);
}
