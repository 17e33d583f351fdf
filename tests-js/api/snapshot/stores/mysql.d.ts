import { CompareAndSetStore } from "./compare-and-set.js";
import type { MySqlClient } from "./mysql-client.js";
import { type MySqlInitOptions, type MySqlStoreOptions } from "./mysql-options.js";
import { type MySqlScope } from "./mysql-table.js";
import type { LeaseRow } from "./rules.js";
export type { MySqlCallbackClient, MySqlClient, MySqlPromiseClient, MySqlStatement } from "./mysql-client.js";
export type { NodeIdsFrom } from "./mysql-old-tables.js";
export type { MySqlInitOptions, MySqlStoreOptions } from "./mysql-options.js";
export type { InitOptions } from "./requests.js";
export type * from "./store.js";
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
