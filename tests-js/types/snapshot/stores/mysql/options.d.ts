import type { InitOptions } from "../lease-store.js";
import { type NodeIdsFrom } from "./old-tables.js";
export interface MySqlStoreOptions {
    readonly database?: string;
    readonly incarnation?: "server" | {
        readonly sql: string;
    } | "none-accepting-repeats-after-failover";
}
export interface MySqlInitOptions extends InitOptions {
    readonly nodeIdsFrom?: NodeIdsFrom | "none";
}
