import { FrazilError } from "../base/errors.js";
import type { NodeRange } from "../layout/default-nodes.js";
import { type Reply } from "../stores/durable-object/error-data.js";
import { type ScopeRecord } from "../stores/kit/lease/requests.js";
import type { AcquireRequest, Answer, EnsureRequest, ReleaseRequest, RenewRequest } from "../stores/lease-store.js";
import type { AllocateRequest, Allocation } from "../stores/segment-store.js";
/** What the object uses of its SQL storage. */
export interface ObjectSql {
    exec(query: string, ...bindings: (string | number | null)[]): {
        toArray(): Record<string, unknown>[];
    };
}
/** What the object uses of its storage. */
export interface ObjectStorage {
    readonly sql: ObjectSql;
    transactionSync<T>(closure: () => T): T;
}
/** What the object uses of its state, which the runtime hands to it. */
export interface ObjectState {
    readonly storage: ObjectStorage;
}
/** What the runtime's class of objects has. */
interface ObjectBase {
    readonly __DURABLE_OBJECT_BRAND: never;
}
/** What `acquire` is sent: a request, and the node ids that the object may have. */
export interface ObjectAcquireRequest extends Omit<AcquireRequest, "signal"> {
    readonly nodes: NodeRange;
    /** Those that a new object begins with. Older versions do not send them: all that it may have. */
    readonly newNodes?: NodeRange;
}
/** The error for a statement that failed in an object. */
export declare function sqlError(error: unknown): FrazilError;
/** The class of objects of the runtime. Its declaration is not part of this package's. */
declare const Base: new (ctx: ObjectState, env: unknown) => ObjectBase;
/** Grants the leases of a scope, and allocates the numbers of a tag. Its methods are called by `DurableObjectStore`. */
export declare class FrazilLeases extends Base {
    #private;
    constructor(ctx: ObjectState, env: unknown);
    acquire(request: ObjectAcquireRequest): Reply<Answer>;
    renew(request: Omit<RenewRequest, "signal">): Reply<Answer>;
    release(request: Omit<ReleaseRequest, "signal">): Reply<boolean>;
    ensure(request: Omit<EnsureRequest, "signal">): Reply<void>;
    fence(request: {
        readonly scope: string;
    }): Reply<number>;
    init(record: ScopeRecord): Reply<boolean>;
    allocate(request: Omit<AllocateRequest, "signal">): Reply<Allocation>;
    initSegment(options: {
        readonly tag: string;
        readonly first: bigint;
    }): Reply<boolean>;
}
export {};
