import type { NodeRange } from "../../layout/default-nodes.js";
import type { AcquireRequest, Answer, EnsureRequest, InitOptions, ManagedStore, ReleaseRequest, RenewRequest } from "../lease-store.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../segment-store.js";
import { type LocationHint } from "./nodes.js";
export type { NodeRange } from "../../layout/default-nodes.js";
export type * from "../lease-store.js";
export type * from "../segment-store.js";
export { LOCATION_HINTS, type LocationHint, locationHintOf, type RequestPlace } from "./nodes.js";
export interface LeasesNamespace {
    idFromName(name: string): object;
    get(id: never, options?: never): object;
}
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
export interface DurableObjectStoreOptions {
    readonly locationHint?: LocationHint | undefined;
    readonly nodes?: NodeRange;
}
export declare class DurableObjectStore implements ManagedStore, ManagedSegmentStore {
    #private;
    readonly name = "durable-object";
    readonly identity: object;
    constructor(namespace: LeasesNamespace, options?: DurableObjectStoreOptions);
    acquire(request: AcquireRequest): Promise<Answer>;
    renew(request: RenewRequest): Promise<Answer>;
    release(request: ReleaseRequest): Promise<boolean>;
    ensure(request: EnsureRequest): Promise<void>;
    init(options: InitOptions): Promise<boolean>;
    fence(options?: {
        readonly scope?: string;
    }): Promise<number>;
    allocate(request: AllocateRequest): Promise<Allocation>;
    initSegment(options: TagOptions): Promise<boolean>;
}
