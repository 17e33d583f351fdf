import type { AcquireView, LeaseTable, RowView, ScopeView } from "./compare-and-set.js";
import type { MySqlClient } from "./mysql-client.js";
import { type OldTable } from "./mysql-old-tables.js";
import { type MySqlStoreOptions, type NodeIdSource } from "./mysql-options.js";
import type { ScopeRecord } from "./requests.js";
import type { LeaseRow, Scope } from "./rules.js";
import type { AcquireRequest } from "./store.js";
/** The record of a scope, and the table that its new node ids come from, if that is an old one. */
export interface MySqlScope extends Scope {
    readonly oldTable: OldTable | undefined;
    /** Rows are made for the numbers below. With an old table, `nextNode` is beyond the largest number there. */
    readonly mark: number;
}
/** The tables, and the statements that read and write them. */
export declare class MySqlTable implements LeaseTable<MySqlScope, LeaseRow> {
    #private;
    readonly name = "mysql";
    constructor(client: MySqlClient, options: MySqlStoreOptions);
    readForAcquire(request: AcquireRequest): Promise<AcquireView<MySqlScope, LeaseRow> | undefined>;
    readRow(scope: string, node: number, signal: AbortSignal | undefined): Promise<RowView<MySqlScope, LeaseRow> | undefined>;
    readScope(scope: string, signal: AbortSignal | undefined): Promise<ScopeView<MySqlScope> | undefined>;
    replaceRow(scope: string, view: ScopeView<MySqlScope>, seen: LeaseRow, { fromMs, untilMs, grant, nonce, owner }: LeaseRow, signal: AbortSignal | undefined): Promise<boolean>;
    makeRows(scope: string, view: ScopeView<MySqlScope>, last: number, signal: AbortSignal | undefined): Promise<void>;
    replaceScope(scope: string, view: ScopeView<MySqlScope>, { fenceMs, incarnation }: Scope, signal: AbortSignal | undefined): Promise<boolean>;
    create({ scope, layout, nodeFrom, nodeTo, windowMaxMs }: ScopeRecord, source?: NodeIdSource): Promise<{
        layout: string;
    } | "rows" | undefined>;
    placeOf(_scope: string, signal: AbortSignal | undefined): Promise<string>;
    /** `leaveOldTable`. Resolves to whether there was one to leave; to `undefined` without a record. */
    leave(scope: string): Promise<boolean | undefined>;
    migrate(): Promise<void>;
}
