import type { Backend } from "../core/boundary.js";
import { type Decoded, type IdInput, Layout, type LayoutInput, type PartsOf } from "../layout/index.js";
import { type Health, type Stats } from "./health.js";
import { type AsyncOptions, type LocalAsyncOptions, type LocalOptions, type SnowflakeOptions } from "./options.js";
/**
 * Mints Snowflake IDs.
 *
 * All generators with the same layout and node id in one process share one state, so a new generator for each request
 * is correct. If `layout.plan().ordered` is true, the IDs of one generator strictly increase. Every method can be
 * called detached from the object, so a method of a subclass with its name is ignored: wrap a generator instead.
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
    /**
     * A generator for one machine, without configuration. Its state is in a file that all processes and threads of one user
     * share, or of all users who give one `dir`. So IDs do not repeat after a crash, after a power loss, or when the clock is
     * set back. If an earlier boot may have reserved the current time, opening waits until that time has passed: usually not
     * at all, and at most `startWaitMs`. A new state file takes a second.
     *
     * If IDs of two machines must differ, give each machine its own `node`.
     *
     * ```js
     * const ids = Snowflake.local();
     * ids.next(); // 382138004275228672n
     * ids.close();
     * ```
     *
     * @throws {ConfigError} the errors of the constructor. Also `NODE_REQUIRED` if the process runs under an orchestrator
     * and no `node` is given; `UNSUPPORTED_FILE_SYSTEM`, `STATE_FILE_CORRUPT`, `STATE_FILE_AHEAD` and
     * `STATE_FILE_FAILED`, each with the path and what to do; `STATE_CONFLICT` if the process has a generator with a
     * static node id, or one with another `sequenceStart`; `NATIVE_REQUIRED` without the native addon.
     * @throws {ClockError} `CLOCK_BACKWARD` with `retryAfterMs` if the wait would be longer than `startWaitMs`;
     * `CLOCK_BEFORE_EPOCH`.
     */
    static local<const L extends LayoutInput = "default">(options?: LocalOptions<L>): Snowflake<L>;
    /**
     * The same as `local`, but does not block the event loop while it waits. Rejects with the errors of `local`, and with
     * the reason of the signal.
     */
    static localAsync<const L extends LayoutInput = "default">(options?: LocalAsyncOptions<L>): Promise<Snowflake<L>>;
    /**
     * @throws {ConfigError} `NODE_REQUIRED`, `INVALID_NODE`, `INVALID_LAYOUT`, `INVALID_OPTION`: each names the field,
     * the value and the rule. `STATE_CONFLICT` if a generator with the same layout and node id has another
     * `sequenceStart`, or if another thread or realm of the process uses the other backend. `NATIVE_REQUIRED` on
     * WebAssembly in a Node worker thread without `unshared: true`.
     */
    constructor(options: SnowflakeOptions<L>);
    /**
     * The node id as one number; `undefined` for a layout without a node field. That of a lease can change, and is
     * `undefined` while none is held.
     */
    get node(): number | undefined;
    /** Where the core runs: `"native"` or `"wasm"`. */
    get backend(): Backend;
    /**
     * The next ID.
     *
     * @throws {ClockError} `SEQUENCE_EXHAUSTED` or `CLOCK_BACKWARD` with `retryAfterMs` if the wait would exceed
     * `maxWaitMs` or the host cannot block; `CLOCK_BEFORE_EPOCH`, `TIME_EXHAUSTED`, `INVALID_CLOCK`.
     * @throws {ConfigError} `CLOSED`, `WASM_UNAVAILABLE`.
     */
    readonly next: () => bigint;
    /** The next ID as decimal text. Throws the errors of `next`. */
    readonly nextString: () => string;
    /**
     * Fills the array with IDs, with one call into the core for every 4096.
     *
     * @throws the errors of `next`. If the call fails midway, the error has `issued`: that many IDs at the start of the
     * array are valid and are never issued again. `SEQUENCE_EXHAUSTED` with `maxCount` if the length exceeds what the
     * full lead and the full wait allow; then no ID is issued. `INVALID_ARGUMENT` if the argument is not a BigUint64Array
     * of at most 1,048,576 elements, or if the clock transfers or shortens the array.
     */
    readonly fill: (target: BigUint64Array) => BigUint64Array;
    /**
     * An array of `count` IDs, 0 to 1,048,576. Throws the errors of `fill`: with the default layout, lead and wait a static generator
     * makes at most 86,016 in one call. For more use `nextManyAsync`.
     */
    readonly nextMany: (count: number) => bigint[];
    /** An array of `count` IDs as decimal text, at most as many as of `nextMany`. Throws the errors of `fill`. */
    readonly nextManyStrings: (count: number) => string[];
    /** The next ID. Waits up to `maxAsyncWaitMs` without blocking the event loop. Rejects with the errors of `next`. */
    readonly nextAsync: (options?: AsyncOptions) => Promise<bigint>;
    /**
     * The next ID, or `undefined` if there is none now: where `next` would wait, or throw an error that is `retryable`. It never waits;
     * with a state file it may flush the disk, as any call. Throws the other errors of `next`.
     */
    readonly tryNext: () => bigint | undefined;
    /**
     * The next ID as a number, for a layout of at most 53 bits, such as `safe53`. Throws the errors of `next`.
     *
     * @throws {ConfigError} `INVALID_LAYOUT` for a layout that has more bits. Then no ID is issued.
     */
    readonly nextNumber: () => number;
    /** The next ID as decimal text. Rejects with the errors of `nextAsync`. */
    readonly nextStringAsync: (options?: AsyncOptions) => Promise<string>;
    /**
     * Fills the array. Waits up to `maxAsyncWaitMs` in all without blocking the event loop. Rejects with the errors of
     * `fill`, and with `INVALID_ARGUMENT` if the array is transferred or shortened meanwhile: the `issued` IDs that it
     * had are never issued again.
     */
    readonly fillAsync: (target: BigUint64Array, options?: AsyncOptions) => Promise<BigUint64Array>;
    /**
     * An array of `count` IDs, 0 to 1,048,576. Waits as `fillAsync`. If the call is aborted, later calls issue the IDs that it had
     * reserved.
     */
    readonly nextManyAsync: (count: number, options?: AsyncOptions) => Promise<bigint[]>;
    /** An array of `count` IDs as decimal text. Waits as `nextManyAsync`. */
    readonly nextManyStringsAsync: (count: number, options?: AsyncOptions) => Promise<string[]>;
    /** Decodes an ID: `layout.decode`. */
    readonly decode: (id: IdInput) => Decoded<PartsOf<L>>;
    /** Counters of this generator. `next()` counts nothing on its fast path, so the counters cost it no time. */
    readonly stats: () => Stats;
    /**
     * The state of the generator, for a health check. Issues no ID.
     *
     * @throws {ConfigError} `CLOSED`, `WASM_UNAVAILABLE`.
     * @throws {ClockError} `INVALID_CLOCK`.
     */
    readonly health: () => Health;
    /**
     * Closes the generator: drops the rest of its block, and makes later minting calls throw `CLOSED`. Other generators
     * that share its state go on.
     */
    readonly close: () => void;
    /** `close()`, for `using`. */
    [Symbol.dispose](): void;
    /** An endless iterator of IDs: `for (const id of ids)`. */
    [Symbol.iterator](): Generator<bigint, never>;
}
