/** The options of a `PostgresStore`. */
export interface PostgresStoreOptions {
    /** The schema of the tables. Default: the search path of the connection. */
    readonly schema?: string;
    /**
     * How a server is told from the one that replaced it after a failover.
     *
     * - `"postgres"` (default): the system identifier, the timeline, and the OIDs of the database and of the table of scopes. Segments: the
     *   first two.
     * - `"postgres-with-start"`: besides, when the server was started. An old primary that is started again, or a copy of its folder, is
     *   then another one; and each restart raises a fence.
     * - `{ sql }`: an SQL expression of your own, whose value changes whenever acknowledged writes may have been lost.
     * - `"none-accepting-repeats-after-failover"`: not at all. If a standby is promoted that lacks the last writes, IDs repeat.
     */
    readonly incarnation?: "postgres" | "postgres-with-start" | {
        readonly sql: string;
    } | "none-accepting-repeats-after-failover";
}
/** Puts the tables and the incarnation into a statement. */
export declare function completion(options: PostgresStoreOptions): (statement: string) => string;
