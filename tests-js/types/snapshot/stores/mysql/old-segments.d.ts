import type { AllocateRequest, Allocation, SegmentStore } from "../segment-store.js";
import type { MySqlClient } from "./client.js";
/** The options of a store on the table of another generator. */
export interface OldSegmentsOptions {
    /** The database of the table. Default: that of the connection. */
    readonly database?: string;
    /** The name of the table. Default: `leaf_alloc`, `tiny_id_info` or `cosid`. */
    readonly table?: string;
    /**
     * Whether the binary log is on the disk with each commit.
     *
     * - `"synced"` (default): a server with a binary log and `sync_binlog` other than 1 is refused.
     * - `"unsynced-accepting-repeats-after-crash"`: it is not. If its host crashes, InnoDB rolls back what the binary log lacks, and numbers
     *   repeat, as they do with the other generator.
     */
    readonly binlog?: "synced" | "unsynced-accepting-repeats-after-crash";
}
/** A store of segments on the table of another generator. */
declare class OldSegments implements SegmentStore {
    #private;
    readonly name: string;
    /** Allocates a range: reads the row, and moves its counter up, if it is as it was read. Who finds that it is not reads again. */
    allocate(request: AllocateRequest): Promise<Allocation>;
}
/**
 * Segments from the table `leaf_alloc` of Meituan's Leaf, beside its servers. The tag is a `biz_tag`, and the step that of its row.
 *
 * ```js
 * import { Segment } from "frazil/segment";
 * import { LeafSegments } from "frazil/stores/mysql";
 *
 * const orders = new Segment(new LeafSegments(pool), { tag: "orders" });
 * ```
 */
export declare class LeafSegments extends OldSegments {
    /**
     * Checks what it is given. It runs no statement.
     *
     * @throws {ConfigError} `INVALID_ARGUMENT` for a client that has no `query`; `INVALID_OPTION`.
     */
    constructor(client: MySqlClient, options?: OldSegmentsOptions);
}
/**
 * Segments from the table `tiny_id_info` of Didi's Tinyid, beside its servers. The tag is a `biz_type`, and a range has `step / delta`
 * numbers, all with `number % delta = remainder`.
 */
export declare class TinyidSegments extends OldSegments {
    /**
     * Checks what it is given. It runs no statement.
     *
     * @throws {ConfigError} `INVALID_ARGUMENT` for a client that has no `query`; `INVALID_OPTION`.
     */
    constructor(client: MySqlClient, options?: OldSegmentsOptions);
}
/**
 * Segments from the table `cosid` of CosId, beside its processes. The tag is a `name`: `namespace.name`. The table has no step: give
 * one to the segment, or a range has 1000 numbers.
 */
export declare class CosIdSegments extends OldSegments {
    /**
     * Checks what it is given. It runs no statement.
     *
     * @throws {ConfigError} `INVALID_ARGUMENT` for a client that has no `query`; `INVALID_OPTION`.
     */
    constructor(client: MySqlClient, options?: OldSegmentsOptions);
}
export {};
