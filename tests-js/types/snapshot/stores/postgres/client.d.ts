/** What a client with `query` can be: a `Pool` or `Client` of `pg`, PGlite, Neon. */
export interface QueryClient {
    query(text: string, values: unknown[]): PromiseLike<unknown>;
    /** Clients of MariaDB and MySQL have it: they are for another store. */
    readonly escapeId?: never;
}
/** What the client of the package `postgres` can do. */
export interface UnsafeClient {
    unsafe(text: string, values: never[]): PromiseLike<unknown>;
}
/** Your client: of `pg`, `postgres`, PGlite or Neon. The store neither opens nor closes it. */
export type PostgresClient = QueryClient | UnsafeClient;
