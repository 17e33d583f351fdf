export declare const ACL_RULE = "~frazil:* -@all +@connection -@dangerous +eval +info +time +hget +hmget +hset +hsetnx +hdel +zadd +zrem +zrange +exists +ttl";
export interface RedisStoreOptions {
    readonly incarnation?: "redis" | {
        readonly lua: string;
    } | "none-accepting-repeats-after-failover";
}
export declare function completion(options: RedisStoreOptions): (script: string) => string;
