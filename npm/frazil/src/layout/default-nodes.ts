/**
 * Node ids that are given as text, and which are taken where none is named. A state file takes the last one (the core does:
 * `Layout::local_node`), and a scope of leases gets all others, so that `Snowflake.local()` beside leases in one column repeats nothing by
 * accident. The last one, since the first ones are those that people and orchestrators give: `web-3` can have 3. A layout with one node id
 * has it for either.
 */

/**
 * A node id, or a part of one, that is given as decimal digits, as environment variables have it, as the number that they are; any other
 * value unchanged, for the rule that it breaks.
 */
export const nodeGiven = (node: unknown): unknown =>
  typeof node === "string" && /^\d+$/.test(node) ? Number(node) : node;

/** A range of node ids, both ends included. */
export interface NodeRange {
  readonly from: number;
  readonly to: number;
}

/** The node id of a state file, of so many in the layout. */
export const localNode = (count: number): number => count - 1;

/** The node ids of a scope of leases, of so many in the layout. */
export const leasedNodes = (count: number): NodeRange => ({ from: 0, to: Math.max(localNode(count) - 1, 0) });

/** All of so many node ids, where something else hands them out. */
export const allNodes = (count: number): NodeRange => ({ from: 0, to: count - 1 });
