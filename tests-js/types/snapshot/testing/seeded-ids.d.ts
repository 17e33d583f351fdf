/** A generator whose IDs are the same in each run. */
import { type LayoutInput, type NodeOption, Snowflake } from "frazil";
/** The options of `seededIds()`. Each has a default. */
export interface SeededIdsOptions<L extends LayoutInput = LayoutInput> {
    /**
     * Which IDs: those of a seed are the same in each run. The IDs of seed 1 start a day after those of seed 0, and so on (in whole
     * ticks, so a week with ticks of a week), so two seeds have no ID in common within a day of their time: 86,400 calls with the default
     * step. Default: 0.
     */
    readonly seed?: number;
    /** What the bits mean. Default: `"default"`. */
    readonly layout?: L;
    /** Another epoch for the layout, in Unix milliseconds or as a `Date`. */
    readonly epochMs?: number | Date;
    /** The node id. Default: 1, or `"none"` for a layout without a node field. */
    readonly node?: NodeOption<L>;
    /** How far the time moves each time that the generator reads it, in milliseconds. With 0 it stands still. Default: 1000. */
    readonly stepMs?: number;
}
/**
 * A generator for tests: the same IDs in each run, in each runtime. They increase, they are read with the layout as all others are, and
 * their times are round: the first one is that of 2025-01-01T00:00:00.000Z, or of the epoch where the layout does not have that time,
 * and each further call is a second later. The IDs of one call have one time, and the sequence counts them from 0.
 *
 * ```js
 * const ids = seededIds();
 * ids.decode(ids.next()); // 2025-01-01T00:00:00.000Z, node 1, sequence 0
 * ids.decode(ids.next()); // 2025-01-01T00:00:01.000Z, node 1, sequence 0
 * ```
 *
 * It is a `Snowflake` with a clock of its own, so it can be passed where one is expected, and no `Date` or timer that a test fakes has
 * an effect on it. It never waits.
 *
 * @throws {ConfigError} `INVALID_OPTION` if `NODE_ENV` is `"production"`, for an option that is not known, and for a seed whose time the
 * layout does not have; the errors of `new Snowflake()`.
 */
export declare function seededIds<const L extends LayoutInput = "default">(options?: SeededIdsOptions<L>): Snowflake<L>;
