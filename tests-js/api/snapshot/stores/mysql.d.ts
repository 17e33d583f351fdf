import { CompareAndSetStore } from "./compare-and-set.js";
import type { LeaseRow, Scope } from "./rules.js";
export type { InitOptions } from "./requests.js";
export type * from "./store.js";
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
}
/** What a pool or a connection of `mysql2` with callbacks can do. */
export interface MySqlCallbackClient {
    promise(): MySqlPromiseClient;
}
/** Your client: a pool or a connection of `mysql2` or `mariadb`. The store neither opens nor closes it. */
export type MySqlClient = MySqlPromiseClient | MySqlCallbackClient;
/** The options of a `MySqlStore`. */
export interface MySqlStoreOptions {
    /** The database of the tables. Default: that of the connection. */
    readonly database?: string;
    /**
     * How a server is told from the one that replaced it after a failover.
     *
     * - `"server"` (default): `server_uuid` on MySQL; `server_id`, host name and port on MariaDB.
     * - `{ sql }`: an SQL expression of your own, whose value changes whenever acknowledged writes may have been lost.
     * - `"none-accepting-repeats-after-failover"`: not at all. If a replica is promoted that lacks the last writes, IDs repeat.
     */
    readonly incarnation?: "server" | {
        readonly sql: string;
    } | "none-accepting-repeats-after-failover";
}
/** Leases in the tables `frazil_scopes` and `frazil_leases`. */
export declare class MySqlStore extends CompareAndSetStore<Scope, LeaseRow> {
    #private;
    /**
     * Checks what it is given. It runs no statement.
     *
     * @throws {ConfigError} `INVALID_ARGUMENT` for a client that has no `query`; `INVALID_OPTION`.
     */
    constructor(client: MySqlClient, options?: MySqlStoreOptions);
    /**
     * Makes the tables unless they exist. It runs DDL only, and may run at each start and in several processes at once. The right
     * to create is needed only if a table is missing.
     *
     * @throws {LeaseError} `STORE_REFUSED`, `STORE_UNAVAILABLE`.
     */
    migrate(): Promise<void>;
}
