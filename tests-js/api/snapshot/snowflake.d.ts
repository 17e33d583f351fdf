import { FrazilError } from "./errors.js";
import type { StateFile } from "./files.js";
import { type Decoded, type IdInput, Layout, type LayoutInput, type NodeInput, type PartsOf } from "./layout.js";
import { type Backend } from "./port.js";
/** The node id of a layout: a number or its named parts, or `"none"` for a layout without a node field. */
export type NodeOption<L> = [PartsOf<L>] extends [never] ? "none" : string extends PartsOf<L> ? NodeInput | "none" : NodeInput<PartsOf<L>>;
/** What a generator is made with. */
export interface SnowflakeOptions<L extends LayoutInput = "default"> {
    /** Which of your machines (processes) this is. There is no default: two on one node id repeat each other's IDs. */
    readonly node: NodeOption<L>;
    /** What the bits mean. Default: `"default"` (time 41, node 10, sequence 12). */
    readonly layout?: L;
    /** Another epoch for the layout, in Unix milliseconds. */
    readonly epochMs?: number;
    /** How far it may run ahead of the clock, 0 to 1000 ms. Default: 10; 0 where the start of the process is unknown. */
    readonly maxLeadMs?: number;
    /** How long a synchronous call may block in all, where the host can block. Default: 10 ms. */
    readonly maxWaitMs?: number;
    /** How long an asynchronous call may wait in all. Default: 5000 ms. */
    readonly maxAsyncWaitMs?: number;
    /**
     * Where the sequence starts in a new tick. Default: `"zero"`. `"random"`: at a keyed hash of the tick, in the lowest
     * quarter; still increasing. `"wrap"`: anywhere, and round: full capacity, but IDs of one tick are not in order. All
     * generators of one layout and node id must have the same.
     */
    readonly sequenceStart?: SequenceStart;
    /** On WebAssembly in a Node worker thread, or beside the other backend: your word that no other thread has this node id. */
    readonly unshared?: boolean;
    /** Replaces the clock, for tests and simulations: a state of its own, outside the promise. Returns Unix milliseconds. */
    readonly now?: () => number;
}
/** What `Snowflake.local()` is given. Everything has a default. */
export interface LocalOptions<L extends LayoutInput = "default"> extends Omit<SnowflakeOptions<L>, "node" | "unshared" | "now"> {
    /**
     * The node id. Default: 0, for IDs that never meet those of another machine. Where an orchestrator runs many machines or
     * containers, it must be given.
     */
    readonly node?: NodeOption<L>;
    /** The directory of the state file, made where it is missing. Default: `frazil` in `$STATE_DIRECTORY`, `$XDG_STATE_HOME` or `~/.local/state`. */
    readonly dir?: string;
    /** The name of the ID space: a letter, and at most 31 letters, digits, `-` or `_`. IDs of two scopes may be equal. Default: `"default"`. */
    readonly scope?: string;
    /** How far it may run ahead of the clock, 0 to 1000 ms. Default: 1000. */
    readonly maxLeadMs?: number;
    /** How long opening may wait for the first ID. Default: 3500 ms. */
    readonly startWaitMs?: number;
    /** A file system that frazil does not know to be sound, by the name that the refusal gives it: your word that it is. */
    readonly fileSystem?: string;
}
/** What `Snowflake.localAsync()` is given. */
export interface LocalAsyncOptions<L extends LayoutInput = "default"> extends LocalOptions<L>, AsyncOptions {
}
/** Where the sequence starts in a new tick. */
export type SequenceStart = "zero" | "random" | "wrap";
/** What an asynchronous call can be given. */
export interface AsyncOptions {
    /** Ends the wait: the call rejects with the signal's reason. */
    readonly signal?: AbortSignal;
}
/** What a generator has done so far. */
export interface Stats {
    readonly backend: Backend;
    /** IDs handed out. */
    readonly issued: number;
    /** IDs reserved ahead and never handed out, because their tick was over. */
    readonly dropped: number;
    /** Calls into the core that gave IDs. */
    readonly reservations: number;
    /** Times the clock was read once more before a refusal. */
    readonly rechecks: number;
    /** Times nothing could be issued at once. */
    readonly stalls: number;
    /** Milliseconds that calls meant to wait. */
    readonly waitedMs: number;
    /** Times the clock was seen before its last reading. */
    readonly stepsBack: number;
    /** The largest of these steps, in milliseconds. */
    readonly largestStepBackMs: number;
    /** Times the clock was followed back, to another clock id. */
    readonly switches: number;
    /** The furthest that an ID lay ahead of the clock, in milliseconds. */
    readonly worstLeadMs: number;
    /** Calls that had to raise the ceiling of a state file first, and so waited for the disk. */
    readonly extensions: number;
}
/** How a generator stands now. */
export interface Health {
    /** Whether `next()` would give an ID at once. */
    readonly ok: boolean;
    /** What `next()` would be refused with, without waiting. */
    readonly refusal: FrazilError | undefined;
    /** How far the current tick lies ahead of the clock, in milliseconds. */
    readonly leadMs: number;
    /** When the time field of the layout runs out. */
    readonly endsAt: Date;
    /** How long until then, in milliseconds; 0 once it is over. */
    readonly remainingMs: number;
    /** What should be looked at although IDs are issued: a time field that runs out within a year, a clock that is not believed. */
    readonly warnings: readonly string[];
    /** The state file, of a `Snowflake.local()`. */
    readonly file?: StateFile;
}
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
