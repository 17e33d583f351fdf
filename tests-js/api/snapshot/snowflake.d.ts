import type { Backend } from "./boundary.js";
import { type Health, type Stats } from "./health.js";
import { type Decoded, type IdInput, Layout, type LayoutInput, type PartsOf } from "./layout.js";
import { type AsyncOptions, type LocalAsyncOptions, type LocalOptions, type SnowflakeOptions } from "./options.js";
/**
 * Mints Snowflake IDs.
 *
 * Generators with equal layouts and node ids in one process share one state, so making one a request is correct. IDs of
 * one generator strictly increase where `layout.plan().ordered`. Every method works detached.
 *
 * ```js
 * const ids = new Snowflake({ node: 7 });
 * ids.next(); // 382138004275228672n
 * ```
 */
export declare class Snowflake<const L extends LayoutInput = "default"> {
    #private;
    /** What the bits mean. */
    readonly layout: Layout<PartsOf<L>>;
    /** The node id as one number; `undefined` for a layout without a node field. */
    readonly node: number | undefined;
    /**
     * A generator for one machine, without configuration: its state lies in a file that all processes and threads of the
     * machine share, so IDs repeat neither after a crash, nor after power loss, nor when the clock is set back. Opening waits
     * for what an earlier boot may have reserved: mostly not at all, and at most `startWaitMs`.
     *
     * IDs of two machines must not meet without a `node` of their own for each.
     *
     * ```js
     * using ids = Snowflake.local();
     * ids.next(); // 382138004275228672n
     * ```
     *
     * @throws {ConfigError} as the constructor, and `NODE_REQUIRED` where an orchestrator shows; `UNSUPPORTED_FILE_SYSTEM`,
     * `STATE_FILE_CORRUPT`, `STATE_FILE_AHEAD`, `STATE_FILE_FAILED`, each with the path and the cure; `STATE_CONFLICT` with a static
     * generator, or for another `sequenceStart`; `NATIVE_REQUIRED` without the native addon.
     * @throws {ClockError} `CLOCK_BACKWARD` with `retryAfterMs`, where the wait would be longer than `startWaitMs`;
     * `CLOCK_BEFORE_EPOCH`.
     */
    static local<const L extends LayoutInput = "default">(options?: LocalOptions<L>): Snowflake<L>;
    /** The same, waiting without holding the event loop. Rejects as `local` throws, and with the signal's reason. */
    static localAsync<const L extends LayoutInput = "default">(options?: LocalAsyncOptions<L>): Promise<Snowflake<L>>;
    /**
     * @throws {ConfigError} `NODE_REQUIRED`, `INVALID_NODE`, `INVALID_LAYOUT`, `INVALID_OPTION`: each names the field, the value
     * and the rule. `STATE_CONFLICT` for another `sequenceStart` than that of a generator with the layout and node id, and where
     * another thread or realm of the process uses the other backend.
     * `NATIVE_REQUIRED` on WebAssembly in a Node worker thread, unless `unshared`.
     */
    constructor(options: SnowflakeOptions<L>);
    /** Where the core runs: `"native"` or `"wasm"`. */
    get backend(): Backend;
    /**
     * The next ID.
     *
     * @throws {ClockError} `SEQUENCE_EXHAUSTED` or `CLOCK_BACKWARD` with `retryAfterMs`, once the wait is over `maxWaitMs` or where
     * the host cannot block; `CLOCK_BEFORE_EPOCH`, `TIME_EXHAUSTED`, `INVALID_CLOCK`.
     * @throws {ConfigError} `CLOSED`, `WASM_UNAVAILABLE`.
     */
    readonly next: () => bigint;
    /** The next ID as decimal text. Throws as `next`. */
    readonly nextString: () => string;
    /**
     * Fills the array with IDs in one crossing for each 4096.
     *
     * @throws as `next`; a stall midway has `issued`: the first that many are valid, and never issued again.
     * `SEQUENCE_EXHAUSTED` with `maxCount` for a length that the full lead and the full wait could never meet, before anything is
     * issued; `INVALID_ARGUMENT` for anything but a BigUint64Array of at most 1,048,576, and for one that the clock detaches or
     * makes shorter.
     */
    readonly fill: (target: BigUint64Array) => BigUint64Array;
    /** That many IDs, 0 to 1,048,576. Throws as `fill`. */
    readonly nextMany: (count: number) => bigint[];
    /** That many IDs as decimal text. Throws as `fill`. */
    readonly nextManyStrings: (count: number) => string[];
    /** The next ID; waits up to `maxAsyncWaitMs` without holding the event loop. Rejects as `next` throws. */
    readonly nextAsync: (options?: AsyncOptions) => Promise<bigint>;
    /** The next ID as decimal text. Rejects as `nextAsync`. */
    readonly nextStringAsync: (options?: AsyncOptions) => Promise<string>;
    /**
     * Fills the array, waiting up to `maxAsyncWaitMs` in all without holding the event loop. Rejects as `fill` throws, and with
     * `INVALID_ARGUMENT` where the array was transferred or made shorter meanwhile: `issued` IDs were in it, and never come again.
     */
    readonly fillAsync: (target: BigUint64Array, options?: AsyncOptions) => Promise<BigUint64Array>;
    /** That many IDs, waiting as `fillAsync`. Those that an aborted call had got are issued by the calls after it. */
    readonly nextManyAsync: (count: number, options?: AsyncOptions) => Promise<bigint[]>;
    /** That many IDs as decimal text, waiting as `nextManyAsync`. */
    readonly nextManyStringsAsync: (count: number, options?: AsyncOptions) => Promise<string[]>;
    /** Takes an ID apart: `layout.decode`. */
    readonly decode: (id: IdInput) => Decoded<PartsOf<L>>;
    /** What it has done so far. Counted apart from the hot path, so it costs nothing. */
    readonly stats: () => Stats;
    /**
     * How it stands now, for a health check. Issues nothing.
     *
     * @throws {ConfigError} `CLOSED`, `WASM_UNAVAILABLE`.
     * @throws {ClockError} `INVALID_CLOCK`.
     */
    readonly health: () => Health;
    /** Ends it: the rest of its block is dropped, and later minting calls are `CLOSED`. A shared state lives on for others. */
    readonly close: () => void;
    /** `close()`, for `using`. */
    [Symbol.dispose](): void;
    /** IDs without end: `for (const id of ids)`. */
    [Symbol.iterator](): Generator<bigint, never>;
}
