import { type LayoutInput } from "frazil";
import { DIALECTS } from "./dialects.js";
export type { LayoutInput, NodeInput } from "frazil";
export { ConfigError, type ErrorCode, FrazilError } from "../base/errors.js";
export { type NextSqlOptions, nextSql } from "./next.js";
export type SqlDialect = keyof typeof DIALECTS;
export interface SqlPartitions {
    readonly table: string;
    readonly by: "day" | "week" | "month";
    readonly from: Date | number;
    readonly until: Date | number;
}
export interface SqlOptions {
    readonly schema?: string | undefined;
    readonly down?: boolean | undefined;
    readonly partition?: SqlPartitions | undefined;
}
export declare function sqlFor(layout: LayoutInput, dialect: SqlDialect, options?: SqlOptions): string;
