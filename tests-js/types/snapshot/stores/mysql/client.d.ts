/** What the store hands a client: a statement, and settings that a program may have changed for its own. */
export interface MySqlStatement {
    readonly sql: string;
    readonly rowsAsArray: boolean;
    readonly nestTables: boolean;
    readonly namedPlaceholders: boolean;
}
/** What a client with promises can do: a pool or a connection of `mysql2/promise` or `mariadb`. */
export interface MySqlPromiseClient {
    query(statement: MySqlStatement, values: (string | number | null)[]): PromiseLike<unknown>;
    /** A `Pool` of `pg` has the first, and a `Client` the second: they are for another store. */
    readonly waitingCount?: never;
    readonly escapeIdentifier?: never;
}
/** What a pool or a connection of `mysql2` with callbacks can do. */
export interface MySqlCallbackClient {
    promise(): MySqlPromiseClient;
}
/** Your client: a pool or a connection of `mysql2` or `mariadb`. The store neither opens nor closes it. */
export type MySqlClient = MySqlPromiseClient | MySqlCallbackClient;
