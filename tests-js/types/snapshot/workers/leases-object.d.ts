import { FrazilError } from "../base/errors.js";
import type { NodeRange } from "../layout/default-nodes.js";
import { type Reply } from "../stores/durable-object/error-data.js";
import { type ScopeRecord } from "../stores/kit/lease/requests.js";
import type { AcquireRequest, Answer, EnsureRequest, ReleaseRequest, RenewRequest } from "../stores/lease-store.js";
import type { AllocateRequest, Allocation } from "../stores/segment-store.js";
export interface ObjectSql {
    exec(query: string, ...bindings: (string | number | null)[]): {
        toArray(): Record<string, unknown>[];
    };
}
export interface ObjectStorage {
    readonly sql: ObjectSql;
    transactionSync<T>(closure: () => T): T;
}
export interface ObjectState {
    readonly storage: ObjectStorage;
}
interface ObjectBase {
    readonly __DURABLE_OBJECT_BRAND: never;
}
export interface ObjectAcquireRequest extends Omit<AcquireRequest, "signal"> {
    readonly nodes: NodeRange;
    readonly newNodes?: NodeRange;
}
export declare function sqlError(error: unknown): FrazilError;
declare const Base: new (ctx: ObjectState, env: unknown) => ObjectBase;
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
