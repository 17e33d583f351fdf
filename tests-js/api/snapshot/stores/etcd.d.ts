import { CompareAndSetStore } from "./compare-and-set.js";
import { type EtcdStoreOptions } from "./etcd-gateway.js";
import { type LeaseRow, type Scope } from "./rules.js";
export type { EtcdRequestInit, EtcdResponse, EtcdStoreOptions } from "./etcd-gateway.js";
export type { InitOptions } from "./requests.js";
export type * from "./store.js";
/** A record as it was read. */
interface EtcdScope extends Scope {
    readonly nodeFrom: number;
    /** The revision of the last write, which the next one compares. */
    readonly version: string;
    /** The epoch in the incarnation of the record. */
    readonly epoch: number;
    /** The Raft term in which the answer was given. */
    readonly term: number;
}
/** A row as it was read. */
interface EtcdRow extends LeaseRow {
    readonly version: string;
    /** The time at which it was written, and the epoch and the Raft term of the record then. */
    readonly writtenMs: number;
    readonly epoch: number;
    readonly term: number;
}
/** Leases in keys of etcd. */
export declare class EtcdStore extends CompareAndSetStore<EtcdScope, EtcdRow> {
    /**
     * Checks what it is given. It sends no request.
     *
     * @throws {ConfigError} `INVALID_OPTION`.
     */
    constructor(options: EtcdStoreOptions);
}
