/** The record of a scope as JSON, which etcd, ZooKeeper and documents keep. Some add their own fields. */
import { saidOf } from "../../../base/errors.js";
import { storeRefused } from "../errors.js";
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

/** The fields of a text that a store wrote at a place, or `STORE_REFUSED` for a text that it did not write. */
export function fieldsOf<T>(place: string, text: string, wholes: readonly string[], texts: readonly string[]): T {
  let fields: Record<string, unknown> | undefined;
  try {
    fields = JSON.parse(text);
  } catch {
    fields = undefined;
  }
  const isRight =
    wholes.every((name) => Number.isSafeInteger(fields?.[name])) &&
    texts.every((name) => typeof fields?.[name] === "string");
  if (!isRight)
    throw storeRefused(
      saidOf(
        place,
        "must have JSON as the store writes it\nRestore it, then call fence().",
        JSON.stringify(text.slice(0, 200)),
      ),
    );
  return fields as T;
}

/** The record that `init` writes. */
export const newScope = (record: ScopeRecord, incarnation: string): StoredScope =>
  storedFields({ ...record, nextNode: record.nodeFrom, fenceMs: 0, incarnation });
