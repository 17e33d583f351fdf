/**
 * Leases and segments in Durable Objects of Cloudflare, from a Worker that has a binding to them.
 *
 * ```js
 * import { DurableObjectStore } from "frazil/workers";
 *
 * export { FrazilLeases } from "frazil/workers"; // the class of the objects
 *
 * const store = new DurableObjectStore(env.FRAZIL); // in a request; it is cheap
 * ```
 *
 * - **One object for each scope, and one for each tag**, which the runtime runs once in the world. No table is made, and no
 *   `init()` is needed: a new, empty object begins by itself.
 * - **Nothing is kept between requests** but the namespace: a stub belongs to one request, and is dead after an abort. Each call
 *   makes its own.
 * - **A location hint** shards the node ids, so that the object is near.
 */
import type { NodeRange } from "../../layout/default-nodes.js";
import type { AcquireRequest, Answer, EnsureRequest, InitOptions, ManagedStore, ReleaseRequest, RenewRequest } from "../lease-store.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../segment-store.js";
import { type LocationHint } from "./nodes.js";
export type { NodeRange } from "../../layout/default-nodes.js";
export type * from "../lease-store.js";
export type * from "../segment-store.js";
export { LOCATION_HINTS, type LocationHint, locationHintOf, type RequestPlace } from "./nodes.js";
/**
 * The binding to the objects: `env.FRAZIL`, a `DurableObjectNamespace<FrazilLeases>` of `wrangler types` or of
 * `@cloudflare/workers-types`.
 */
export interface LeasesNamespace {
    idFromName(name: string): object;
    get(id: never, options?: never): object;
}
/**
 * A store or namespace, unless its type says that it is the namespace of another class. That of `DurableObjectNamespace` without a
 * parameter says nothing.
 */
export type OfLeases<S> = S extends {
    get(id: never, options?: never): infer Stub;
} ? "__DURABLE_OBJECT_BRAND" extends keyof Stub ? Stub extends {
    acquire: unknown;
    allocate: unknown;
} ? S : {
    get(id: never, options?: never): {
        acquire: unknown;
        allocate: unknown;
    };
} : S : S;
/** The options of the store. Each has a default. */
export interface DurableObjectStoreOptions {
    /**
     * Where the object of the scope is made: `locationHintOf(request.cf)`. Each hint has an object and a sixteenth of the node ids of
     * its own. Default: one object, near the Worker that asks first, with seven sixteenths of them.
     */
    readonly locationHint?: LocationHint | undefined;
    /**
     * The node ids to grant, both ends included, in the place of those above: all of them in the layout. No two objects of one scope may
     * have one in common: that of another hint, of no hint, or of another namespace. `leased()` asks the store of its first call.
     */
    readonly nodes?: NodeRange;
}
/** Leases and segments in objects of the class `FrazilLeases`. */
export declare class DurableObjectStore implements ManagedStore, ManagedSegmentStore {
    #private;
    readonly name = "durable-object";
    /** The namespace. */
    readonly identity: object;
    /**
     * Checks what it is given. It asks no object.
     *
     * @throws {ConfigError} `INVALID_ARGUMENT` for something that is no namespace, `INVALID_OPTION`.
     */
    constructor(namespace: LeasesNamespace, options?: DurableObjectStoreOptions);
    acquire(request: AcquireRequest): Promise<Answer>;
    renew(request: RenewRequest): Promise<Answer>;
    release(request: ReleaseRequest): Promise<boolean>;
    ensure(request: EnsureRequest): Promise<void>;
    /**
     * Writes the record of a scope, for a range of node ids or a longest window other than those that the object would choose. It is
     * not needed: the first `acquire` makes the record, with all node ids of this store and a longest window of 10 minutes.
     */
    init(options: InitOptions): Promise<boolean>;
    /**
     * Raises the fence, also of an object that is empty: after a restore to a point in time, and after the class was deleted and made
     * again. With location hints, every object has a fence of its own.
     */
    fence(options?: {
        readonly scope?: string;
    }): Promise<number>;
    allocate(request: AllocateRequest): Promise<Allocation>;
    initSegment(options: TagOptions): Promise<boolean>;
}
