/** The options of the store in MariaDB and MySQL and of its `init`, checked, and what they put into statements. */
import { allNodes } from "../../layout/default-nodes.js";
import { checkGiven, optionError } from "../kit/argument-errors.js";
import { recordOf, type ScopeRecord } from "../kit/lease/requests.js";
import type { InitOptions } from "../lease-store.js";
import { type NodeIdsFrom, oldTableOf } from "./old-tables.js";
import { DIGITS, IDENTITY, TABLE_IDENTITY } from "./statements.js";

/** The options of a `MySqlStore`. */
export interface MySqlStoreOptions {
  /** The database of the tables. Default: that of the connection. */
  readonly database?: string;
  /**
   * How to tell a server from the one that replaced it after a failover.
   *
   * - `"server"` (default): `server_uuid` on MySQL; `server_id`, host name and port on MariaDB. For leases also when the table of scopes
   *   was made.
   * - `{ sql }`: an SQL expression of your own, whose value changes whenever acknowledged writes may have been lost.
   * - `"none-accepting-repeats-after-failover"`: not at all. If a replica is promoted that lacks the last writes, IDs repeat.
   */
  readonly incarnation?: "server" | { readonly sql: string } | "none-accepting-repeats-after-failover";
}

/** What `init` is given. */
export interface MySqlInitOptions extends InitOptions {
  /**
   * The table that a fleet of UidGenerator or CosId takes its node ids from, to mint beside it: see the page "Migrating a fleet". New node
   * ids then come from there, so `nodes` is not given. `"none"`: the store numbers them itself, although the database has
   * such a table.
   */
  readonly nodeIdsFrom?: NodeIdsFrom | "none";
}

const NODES_RULE = "must not be given with nodeIdsFrom\nThe node ids are the numbers of that table.";
const DATABASE_RULE = "must be the name of a database, a letter or _ and then at most 63 letters, digits, _, $ or -";
const INCARNATION_RULE =
  'must be "server", { sql } with an SQL expression without ?, or "none-accepting-repeats-after-failover"';

/** An old table that new node ids come from. @internal */
export type OldTableSource = ReturnType<typeof oldTableOf>;
/** Where new node ids come from. Undefined: the store numbers them, if the database has no old table. @internal */
export type NodeIdSource = OldTableSource | "none" | undefined;

/** The old table as the record of the scope names it. @internal */
export const sourceText = (source: NodeIdSource): string | null =>
  typeof source === "object" ? source.oldTable.text : null;

/** The old table that the record of a scope names, without the marker that each `init` draws. @internal */
export function tableOf(text: string | null): string | null {
  if (text === null) return null;
  const { marker: _, ...table } = JSON.parse(text);
  return JSON.stringify(table);
}

/** What `init` is given, checked. @internal */
export function sourceOf(options: MySqlInitOptions): { readonly record: ScopeRecord; readonly source: NodeIdSource } {
  const { nodeIdsFrom, ...others } = (options ?? {}) as MySqlInitOptions;
  if (nodeIdsFrom === undefined) return { record: recordOf(options), source: undefined };
  if (nodeIdsFrom === "none") return { record: recordOf(others), source: "none" };
  if (others.nodes !== undefined) throw optionError("nodes", others.nodes, NODES_RULE);
  // The numbers of that table, whatever they are: the last one too.
  const record = recordOf(others, allNodes);
  return { record, source: oldTableOf(record.scope, nodeIdsFrom) };
}

/** Puts the tables and the incarnation into a statement. `isOfLeases`: whether it is of leases, and not of segments. @internal */
export function completion(options: MySqlStoreOptions, isOfLeases = false): (statement: string) => string {
  const { database, incarnation = "server" } = checkGiven(options, "database, incarnation") as MySqlStoreOptions;
  if (database !== undefined && (typeof database !== "string" || !/^[a-z_][\w$-]{0,63}$/i.test(database)))
    throw optionError("database", database, DATABASE_RULE);
  let sql: unknown;
  if (incarnation === "server") sql = isOfLeases ? TABLE_IDENTITY : IDENTITY;
  else if (incarnation === "none-accepting-repeats-after-failover") sql = "'none'";
  else sql = (incarnation as { sql?: unknown } | null)?.sql;
  // A client would take a question mark for a value of the store.
  if (typeof sql !== "string" || sql.trim() === "" || sql.includes("?"))
    throw optionError("incarnation", incarnation, INCARNATION_RULE);
  const ofTables = database === undefined ? "DATABASE()" : `'${database}'`;
  const prefix = database === undefined ? "" : `\`${database}\`.`;
  const parts: Record<string, string> = {
    prefix,
    scopes: `${prefix}frazil_scopes`,
    leases: `${prefix}frazil_leases`,
    segments: `${prefix}frazil_segments`,
    database: ofTables,
    incarnation: sql.replace("{database}", ofTables),
    digits: DIGITS,
  };
  return (statement) =>
    statement.replace(
      /\{(scopes|leases|segments|prefix|database|incarnation|digits)\}/g,
      (_, part: string) => parts[part] as string,
    );
}
