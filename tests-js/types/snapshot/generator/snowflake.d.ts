import type { Backend } from "../core/boundary.js";
import { type Decoded, type IdInput, type IdRange, Layout, type LayoutInput, type NodeInput, type PartsOf } from "../layout/index.js";
import { type Health, type Stats } from "./health.js";
import { type AsyncOptions, type LocalAsyncOptions, type LocalOptions, type SnowflakeOptions } from "./options.js";
export declare class Snowflake<const L extends LayoutInput = "default"> {
    #private;
    readonly layout: Layout<PartsOf<L>>;
    static local<const L extends LayoutInput = "default">(options?: LocalOptions<L>): Snowflake<L>;
    static localAsync<const L extends LayoutInput = "default">(options?: LocalAsyncOptions<L>): Promise<Snowflake<L>>;
    constructor(options: SnowflakeOptions<L>);
    get node(): number | undefined;
    get backend(): Backend;
    readonly next: () => bigint;
    readonly nextString: () => string;
    readonly fill: (target: BigUint64Array) => BigUint64Array;
    readonly nextMany: (count: number) => bigint[];
    readonly nextManyStrings: (count: number) => string[];
    readonly nextAsync: (options?: AsyncOptions) => Promise<bigint>;
    readonly tryNext: () => bigint | undefined;
    readonly nextNumber: () => number;
    readonly nextStringAsync: (options?: AsyncOptions) => Promise<string>;
    readonly fillAsync: (target: BigUint64Array, options?: AsyncOptions) => Promise<BigUint64Array>;
    readonly nextManyAsync: (count: number, options?: AsyncOptions) => Promise<bigint[]>;
    readonly nextManyStringsAsync: (count: number, options?: AsyncOptions) => Promise<string[]>;
    readonly decode: (id: IdInput) => Decoded<PartsOf<L>>;
    readonly parse: (id: IdInput) => bigint;
    readonly range: (from: Date | number, to: Date | number, options?: {
        readonly node?: NodeInput<PartsOf<L>>;
    }) => IdRange;
    readonly stats: () => Stats;
    readonly health: () => Health;
    readonly close: () => void;
    [Symbol.dispose](): void;
    [Symbol.iterator](): Generator<bigint, never>;
}
