import { CompareAndSetStore } from "./compare-and-set.js";
import { type EtcdStoreOptions } from "./etcd-gateway.js";
export type { EtcdRequestInit, EtcdResponse, EtcdStoreOptions } from "./etcd-gateway.js";
export type * from "./store.js";
/** Leases in keys of etcd. */
export declare class EtcdStore extends CompareAndSetStore {
    /**
     * Checks what it is given. It sends no request.
     *
     * @throws {ConfigError} `INVALID_OPTION`.
     */
    constructor(options: EtcdStoreOptions);
}
