import type { LayoutInput } from "../layout/index.js";
import type { Snowflake } from "./snowflake.js";
export interface IdGenerator<L extends LayoutInput = LayoutInput> extends Omit<Snowflake<L>, "close"> {
    readonly close: () => void | Promise<void>;
}
