/**
 * Which node ids are taken where none is named. A state file takes the last one (the core does: `Layout::local_node`), and a scope of
 * leases gets all others, so that `Snowflake.local()` beside leases in one column repeats nothing by accident. The last one, since the
 * first ones are those that people and orchestrators give: `web-3` can have 3. A layout with one node id has it for either.
 */
/** A range of node ids, both ends included. */
export interface NodeRange {
    readonly from: number;
    readonly to: number;
}
/** The node id of a state file, of so many in the layout. */
export declare const localNode: (count: number) => number;
/** The node ids of a scope of leases, of so many in the layout. */
export declare const leasedNodes: (count: number) => NodeRange;
/** All of so many node ids, where something else hands them out. */
export declare const allNodes: (count: number) => NodeRange;
