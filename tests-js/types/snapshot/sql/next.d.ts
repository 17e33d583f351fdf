import { type LayoutInput, type NodeInput } from "frazil";
export interface NextSqlOptions {
    readonly node?: NodeInput<string>;
    readonly schema?: string;
    readonly maxLagMs?: number;
    readonly maxLeadMs?: number;
    readonly grant?: string;
    readonly down?: boolean;
}
export declare function nextSql(layout: LayoutInput, options: NextSqlOptions): string;
