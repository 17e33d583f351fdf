import { type AcquireRequest, type Answer, type EnsureRequest, type InitOptions, type ManagedStore, type ReleaseRequest, type RenewRequest } from "../lease-store.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../segment-store.js";
export type * from "../lease-store.js";
export type * from "../segment-store.js";
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
/** The options of a `RedisStore`. */
export interface RedisStoreOptions {
    /**
     * How a server is told from the one that replaced it after a failover or a restart.
     *
     * - `"redis"` (default): `run_id` and `master_replid` of `INFO`. The store then also refuses a server whose settings lose
     *   leases: a replica, an eviction policy other than `noeviction`, replicas without `min-replicas-to-write`.
     * - `{ lua }`: a Lua expression of your own, a string that changes whenever acknowledged writes may have been lost. No setting
     *   of the server is looked at.
     * - `"none-accepting-repeats-after-failover"`: not at all. If a server goes on without the last writes, IDs repeat. No setting
     *   of the server is looked at.
     */
    readonly incarnation?: "redis" | {
        readonly lua: string;
    } | "none-accepting-repeats-after-failover";
}
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
