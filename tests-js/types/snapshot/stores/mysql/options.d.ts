import type { InitOptions } from "../lease-store.js";
import { type NodeIdsFrom } from "./old-tables.js";
/** The options of a `MySqlStore`. */
export interface MySqlStoreOptions {
    /** The database of the tables. Default: that of the connection. */
    readonly database?: string;
    /**
     * How a server is told from the one that replaced it after a failover.
     *
     * - `"server"` (default): `server_uuid` on MySQL; `server_id`, host name and port on MariaDB. For leases also when the table of scopes
     *   was made.
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
