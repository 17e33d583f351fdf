/** What `init` finds where its record was to be. */
import { configError } from "../../base/errors.js";
import type { ScopeRecord } from "./lease/requests.js";

/** What a scope keeps of `init` for ever. `nodeIdsFrom`: the table of another generator that its node ids come from, if any. */
export type Initialised = Pick<ScopeRecord, "layout" | "nodeFrom" | "nodeTo"> & {
  readonly nodeIdsFrom?: string | null;
};

/** What `init` finds where its record was to be: a record, or rows without one. */
export type Found = Initialised | "rows";

const nodesOf = ({ nodeFrom, nodeTo, nodeIdsFrom }: Initialised): string =>
  `the node ids ${nodeFrom} to ${nodeTo}${nodeIdsFrom ? ` of ${nodeIdsFrom}` : ""}`;
const described = (record: Initialised): string => `the layout "${record.layout}" and ${nodesOf(record)}`;

/**
 * What `init` resolves to: true if it found nothing and wrote its record, false if the record that it found is the one that it was
 * to write. `windowMaxMs` is not compared: that of the record stays.
 *
 * @throws {ConfigError} `STATE_CONFLICT` for another layout, other node ids, and rows without a record.
 */
export function isNew(record: Initialised & { readonly scope: string }, found: Found | undefined): boolean {
  if (found === undefined) return true;
  const { scope } = record;
  if (found !== "rows" && described(found) === described(record)) return false;
  const rule =
    found === "rows"
      ? `the scope "${scope}" has rows, and no record\nIts record was deleted, and its node ids may be in use. Restore the record, or use another scope, whose IDs go to another column.`
      : `the scope "${scope}" has a record of ${described(found)}, and not of ${(found.layout === record.layout ? nodesOf : described)(record)}\nA scope keeps what it began with. Pass the same, or another scope, whose IDs go to another column.`;
  throw configError("STATE_CONFLICT", "scope", scope, rule);
}
