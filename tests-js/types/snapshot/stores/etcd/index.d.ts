import { CompareAndSetStore } from "../kit/lease/compare-and-set.js";
import { type EtcdStoreOptions } from "./gateway.js";
export type * from "../lease-store.js";
export { etcdDdl } from "./ddl.js";
export type { EtcdRequestInit, EtcdResponse, EtcdStoreOptions } from "./gateway.js";
/** Leases in keys of etcd. */
export declare class EtcdStore extends CompareAndSetStore {
    /**
     * Checks what it is given. It sends no request.
     *
     * @throws {ConfigError} `INVALID_OPTION`.
     */
    constructor(options: EtcdStoreOptions);
}
