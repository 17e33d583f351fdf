/**
 * Leases in any database that can replace a few documents on condition: you give two functions, and the store does the rest.
 *
 * ```js
 * import { DocumentStore } from "frazil/stores/document";
 *
 * const store = new DocumentStore({ read, replace });
 * await store.init({ layout: "default" }); // once for each scope
 * ```
 *
 * A scope is a document with its record (`frazil/orders`), one for each node id (`frazil/orders/17`), so that renewals of two holders do
 * not meet, and up to 256 turns (`frazil/orders/turn-0f`). Each is a JSON text of some 200 characters.
 *
 * - **One `replace` decides** each operation: all documents that were decided on must be as they were read, and the server the one that
 *   was read. What changes in between, also by a failover, is not overlooked.
 * - **A grant takes one node id**: an acquisition also changes a turn, chosen by its grant, so an attempt and its retry meet there.
 *
 * Not seen: two functions that do not keep their rules. `frazil/testing/lease-contract` tests them.
 */
import type { HostAbortSignal } from "../host-types.js";
import { CompareAndSetStore } from "./compare-and-set.js";
export type * from "./store.js";
/** What `Documents.read` resolves to. */
export interface DocumentsRead {
    /** The text of the document of each key, in the order of the keys; `null` where there is none. */
    readonly texts: readonly (string | null)[];
    /** The clock of the server in Unix milliseconds, read after the call began. */
    readonly nowMs: number;
    /** What tells the server from every other one that may lack its writes: it must not be empty. */
    readonly incarnation: string;
}
/** A document that `Documents.replace` compares and writes. */
export interface DocumentChange {
    readonly key: string;
    /** The text that it must have; `null`: it must not exist. */
    readonly seen: string | null;
    /** The text to write. That of `seen` where the document is only compared. */
    readonly text: string;
}
/** Your database, by two functions. Both see the last write: no replica, and no eventual consistency. */
export interface Documents {
    /** Reads documents: each of them, after the call began, as new as those before it or newer. One statement is simplest. */
    read(keys: readonly string[], signal: HostAbortSignal | undefined): PromiseLike<DocumentsRead>;
    /**
     * In one transaction: if every document is as it was seen, and the server is the one of `incarnation`, writes all texts; otherwise
     * nothing. Resolves to whether it wrote them: `true` once they are on disk.
     */
    replace(changes: readonly DocumentChange[], incarnation: string, signal: HostAbortSignal | undefined): PromiseLike<boolean>;
}
/** The options of a `DocumentStore`. */
export interface DocumentStoreOptions {
    /** How the store is called in errors and `health()`. Default: `"document"`. */
    readonly name?: string;
    /** What the keys begin with. Default: `"frazil/"`. */
    readonly prefix?: string;
}
/** Leases in documents of your database. */
export declare class DocumentStore extends CompareAndSetStore {
    /** Your functions: two stores with the same ones are one store. */
    readonly identity: object;
    /**
     * Checks what it is given. It calls neither function.
     *
     * @throws {ConfigError} `INVALID_ARGUMENT` for something without the two functions; `INVALID_OPTION`.
     */
    constructor(documents: Documents, options?: DocumentStoreOptions);
}
