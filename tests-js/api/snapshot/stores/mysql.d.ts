import { CompareAndSetStore } from "./compare-and-set.js";
import { type NodeIdsFrom, type OldTable } from "./mysql-old-tables.js";
import { type InitOptions } from "./requests.js";
import type { LeaseRow, Scope } from "./rules.js";
export type { NodeIdsFrom } from "./mysql-old-tables.js";
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
/** What `init` is given. */
export interface MySqlInitOptions extends InitOptions {
    /**
     * The table that a fleet of UidGenerator or CosId takes its node ids from, to mint beside it: `docs/moving-in.md`. New node
     * ids then come from there, so `nodes` is not given. `"none"`: the store numbers them itself, although the database has
     * such a table.
     */
    readonly nodeIdsFrom?: NodeIdsFrom | "none";
}
/** The record of a scope, and the table that its new node ids come from, if that is an old one. */
interface MySqlScope extends Scope {
    readonly oldTable: OldTable | undefined;
    /** Rows are made for the numbers below. With an old table, `nextNode` is beyond the largest number there. */
    readonly mark: number;
}
/** Leases in the tables `frazil_scopes` and `frazil_leases`. */
export declare class MySqlStore extends CompareAndSetStore<MySqlScope, LeaseRow> {
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
    /**
     * Writes the record of a scope, with the fence 0. Call it once for each scope, when the scope is new: never at each start,
     * since an empty store and one that has lost its rows look the same.
     *
     * @throws {ConfigError} `STATE_CONFLICT` if the scope has a record, or rows without one; `INVALID_OPTION`.
     * @throws {LeaseError} `STORE_NOT_INITIALISED`, `STORE_REFUSED`, `STORE_UNAVAILABLE`.
     */
    init(options: MySqlInitOptions): Promise<void>;
    /**
     * Ends the time of the move: new node ids do not come from the table of the other generator any more, but follow its largest
     * number. Call it when no process of the other generator runs, and none can start. Holders go on.
     *
     * @throws {ConfigError} `STATE_CONFLICT` if the scope has its own node ids already.
     * @throws {LeaseError} `STORE_NOT_INITIALISED`, `STORE_REFUSED`, `STORE_UNAVAILABLE`.
     */
    leaveOldTable(options?: {
        readonly scope?: string;
    }): Promise<void>;
}
