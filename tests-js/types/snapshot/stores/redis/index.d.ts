import type { AcquireRequest, Answer, EnsureRequest, InitOptions, ManagedStore, ReleaseRequest, RenewRequest } from "../lease-store.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../segment-store.js";
import { type RedisStoreOptions } from "./options.js";
export type * from "../lease-store.js";
export type * from "../segment-store.js";
export type { RedisStoreOptions } from "./options.js";
export interface EvalClient {
    eval(script: string, keys: string[], args: string[]): PromiseLike<unknown>;
}
export interface NodeRedisClient {
    EVAL(...given: never[]): PromiseLike<unknown>;
    connect(...given: never[]): PromiseLike<unknown>;
}
export interface IoRedisClient {
    defineCommand(...given: never[]): unknown;
    pipeline(...given: never[]): unknown;
}
export type RedisClient = EvalClient | NodeRedisClient | IoRedisClient;
export declare class RedisStore implements ManagedStore, ManagedSegmentStore {
    #private;
    readonly name = "redis";
    constructor(client: RedisClient, options?: RedisStoreOptions);
    waitsFor(): string | undefined;
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
