/** The record of a scope as JSON, which etcd and ZooKeeper keep. Each adds fields of its own. */
import type { ScopeRecord } from "./requests.js";
import type { Scope } from "./rules.js";

/** A record with the first node id of the scope, which people read. */
export interface StoredScope extends Scope {
  readonly nodeFrom: number;
}

/** The fields that are whole numbers, and those that are texts. */
export const WHOLE_FIELDS = ["nodeFrom", "nodeTo", "nextNode", "windowMaxMs", "fenceMs"] as const;
export const TEXT_FIELDS = ["layout", "incarnation"] as const;

/** The fields of every record, in the order in which they are written. */
export const storedFields = ({
  layout,
  nodeFrom,
  nodeTo,
  nextNode,
  windowMaxMs,
  fenceMs,
  incarnation,
}: StoredScope): StoredScope => ({ layout, nodeFrom, nodeTo, nextNode, windowMaxMs, fenceMs, incarnation });

/** The record that `init` writes. */
export const newScope = (record: ScopeRecord, incarnation: string): StoredScope =>
  storedFields({ ...record, nextNode: record.nodeFrom, fenceMs: 0, incarnation });
