import { CompareAndSetStore } from "./compare-and-set.js";
import { type EtcdStoreOptions } from "./etcd-gateway.js";
import { type LeaseRow, type Scope } from "./rules.js";
export type { EtcdRequestInit, EtcdResponse, EtcdStoreOptions } from "./etcd-gateway.js";
export type { InitOptions } from "./requests.js";
export type * from "./store.js";
/** Leases in keys of etcd. */
export declare class EtcdStore extends CompareAndSetStore<Scope, LeaseRow> {
    /**
     * Checks what it is given. It sends no request.
     *
     * @throws {ConfigError} `INVALID_OPTION`.
     */
    constructor(options: EtcdStoreOptions);
}
