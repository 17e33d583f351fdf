/**
 * Node ids as text, and the default node ids. A state file takes the last one (in the core: `Layout::local_node`), and a scope of leases
 * all others, so `Snowflake.local()` beside leases in one column repeats no ID by accident. The last one, because people and orchestrators
 * give the first ones: `web-3` can have 3. If a layout has only one node id, both use it.
 */

/**
 * The number for a node id, or a part of one, in decimal digits, as in an environment variable; any other value unchanged, for the rule
 * that it breaks.
 */
export const nodeGiven = (node: unknown): unknown =>
  typeof node === "string" && /^\d+$/.test(node) ? Number(node) : node;

/** A range of node ids, both ends included. */
export interface NodeRange {
  readonly from: number;
  readonly to: number;
}

/** The node id of a state file, if the layout has `count`. */
export const localNode = (count: number): number => count - 1;

/** The node ids of a scope of leases, if the layout has `count`. */
export const leasedNodes = (count: number): NodeRange => ({ from: 0, to: Math.max(localNode(count) - 1, 0) });

/** All `count` node ids, where something else hands them out. */
export const allNodes = (count: number): NodeRange => ({ from: 0, to: count - 1 });
