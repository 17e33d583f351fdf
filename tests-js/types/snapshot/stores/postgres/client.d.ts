export interface QueryClient {
    query(text: string, values: unknown[]): PromiseLike<unknown>;
    readonly escapeId?: never;
}
export interface UnsafeClient {
    unsafe(text: string, values: never[]): PromiseLike<unknown>;
}
export type PostgresClient = QueryClient | UnsafeClient;
