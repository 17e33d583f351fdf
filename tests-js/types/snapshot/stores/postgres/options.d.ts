export interface PostgresStoreOptions {
    readonly schema?: string;
    readonly incarnation?: "postgres" | "postgres-with-start" | {
        readonly sql: string;
    } | "none-accepting-repeats-after-failover";
}
export declare function completion(options: PostgresStoreOptions): (statement: string) => string;
