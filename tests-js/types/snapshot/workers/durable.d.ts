import { type LayoutInput, Snowflake, type SnowflakeOptions } from "frazil";
import { type ObjectState } from "./leases-object.js";
export interface DurableOptions<L extends LayoutInput = LayoutInput> extends Omit<SnowflakeOptions<L>, "layout" | "node" | "unshared" | "now" | "freshness" | "maxWaitMs"> {
    readonly layout?: L;
    readonly scope?: string;
    readonly node: NonNullable<SnowflakeOptions<L>["node"]>;
}
export declare function durable<const L extends LayoutInput = "edge">(ctx: ObjectState, options: DurableOptions<L>): Snowflake<L>;
