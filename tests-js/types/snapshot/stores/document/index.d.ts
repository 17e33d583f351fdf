import type { HostAbortSignal } from "../../base/host-types.js";
import { CompareAndSetStore } from "../kit/lease/compare-and-set.js";
export type * from "../lease-store.js";
export interface DocumentsRead {
    readonly texts: readonly (string | null)[];
    readonly nowMs: number;
    readonly incarnation: string;
}
export interface DocumentChange {
    readonly key: string;
    readonly seen: string | null;
    readonly text: string;
}
export interface Documents {
    read(keys: readonly string[], signal: HostAbortSignal | undefined): PromiseLike<DocumentsRead>;
    replace(changes: readonly DocumentChange[], incarnation: string, signal: HostAbortSignal | undefined): PromiseLike<boolean>;
}
export interface DocumentStoreOptions {
    readonly name?: string;
    readonly prefix?: string;
}
export declare class DocumentStore extends CompareAndSetStore {
    readonly identity: object;
    constructor(documents: Documents, options?: DocumentStoreOptions);
}
