import type { AcquireRequest, Answer, EnsureRequest, InitOptions, ManagedStore, ReleaseRequest, RenewRequest } from "../lease-store.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../segment-store.js";
import { type RedisStoreOptions } from "./options.js";
export type * from "../lease-store.js";
export type * from "../segment-store.js";
export { redisDdl, redisFence } from "./ddl.js";
export type { RedisStoreOptions } from "./options.js";
/** A client that runs a script as Upstash's does. A function of your own makes one of every other client. */
export interface EvalClient {
    eval(script: string, keys: string[], args: string[]): PromiseLike<unknown>;
}
/** What `redis` makes: a client, a pool, a cluster or a sentinel. */
export interface NodeRedisClient {
    EVAL(...given: never[]): PromiseLike<unknown>;
    connect(...given: never[]): PromiseLike<unknown>;
}
/** What `ioredis` makes: a `Redis` or a `Cluster`. */
export interface IoRedisClient {
    defineCommand(...given: never[]): unknown;
    pipeline(...given: never[]): unknown;
}
/** Your client. The store neither opens nor closes it. */
export type RedisClient = EvalClient | NodeRedisClient | IoRedisClient;
/** Leases under the keys `frazil:{scope}:…`. */
export declare class RedisStore implements ManagedStore, ManagedSegmentStore {
    #private;
    readonly name = "redis";
    /**
     * Checks what it is given. It runs no command.
     *
     * @throws {ConfigError} `INVALID_ARGUMENT` for a client whose `eval` is not known; `INVALID_OPTION`.
     */
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
