import { type LayoutInput, type NodeOption, Snowflake } from "frazil";
export interface SeededIdsOptions<L extends LayoutInput = LayoutInput> {
    readonly seed?: number;
    readonly layout?: L;
    readonly epochMs?: number | Date;
    readonly node?: NodeOption<L>;
    readonly stepMs?: number;
}
export declare function seededIds<const L extends LayoutInput = "default">(options?: SeededIdsOptions<L>): Snowflake<L>;
