export interface MySqlStatement {
    readonly sql: string;
    readonly rowsAsArray: boolean;
    readonly nestTables: boolean;
    readonly namedPlaceholders: boolean;
}
export interface MySqlPromiseClient {
    query(statement: MySqlStatement, values: (string | number | null)[]): PromiseLike<unknown>;
    readonly waitingCount?: never;
    readonly escapeIdentifier?: never;
}
export interface MySqlCallbackClient {
    promise(): MySqlPromiseClient;
}
export type MySqlClient = MySqlPromiseClient | MySqlCallbackClient;
