/** The options of a store, and what they make of a statement. */
import { checkGiven, optionError } from "../kit/argument-errors.js";
import { STARTED } from "./client.js";
import { DURABLE, localTables, SERVER, tableIn } from "./lease-statements.js";

/** The options of a `PostgresStore`. */
export interface PostgresStoreOptions {
  /** The schema of the tables. Default: the search path of the connection. */
  readonly schema?: string;
  /**
   * How to tell a server from the one that replaced it after a failover.
   *
   * - `"postgres"` (default): the system identifier, the timeline, and the OIDs of the database and of the table of scopes. Segments: the
   *   first two.
   * - `"postgres-with-start"`: besides, when the server was started. An old primary that is started again, or a copy of its folder, is
   *   then another one; and each restart raises a fence.
   * - `{ sql }`: an SQL expression of your own, whose value changes whenever acknowledged writes may have been lost.
   * - `"none-accepting-repeats-after-failover"`: not at all. If a standby is promoted that lacks the last writes, IDs repeat.
   */
  readonly incarnation?:
    | "postgres"
    | "postgres-with-start"
    | { readonly sql: string }
    | "none-accepting-repeats-after-failover";
}

const SCHEMA_RULE = "must be the name of a schema, a letter or _ and then at most 62 letters, digits, _, $ or -";

const INCARNATION_RULE =
  'must be "postgres", "postgres-with-start", { sql } with an SQL expression, or "none-accepting-repeats-after-failover"';

/** Puts the tables and the incarnation into a statement. */
export function completion(options: PostgresStoreOptions): (statement: string) => string {
  const { schema, incarnation = "postgres" } = checkGiven(options, "schema, incarnation") as PostgresStoreOptions;
  if (schema !== undefined && (typeof schema !== "string" || !/^[a-z_][\w$-]{0,62}$/i.test(schema)))
    throw optionError("schema", schema, SCHEMA_RULE);
  const isOurs = incarnation === "postgres" || incarnation === "postgres-with-start";
  let sql: unknown;
  if (incarnation === "postgres") sql = SERVER;
  else if (incarnation === "postgres-with-start") sql = `${SERVER} || '/' || ${STARTED}`;
  else if (incarnation === "none-accepting-repeats-after-failover") sql = "''";
  else sql = (incarnation as { sql?: unknown } | null)?.sql;
  if (typeof sql !== "string" || sql.trim() === "") throw optionError("incarnation", incarnation, INCARNATION_RULE);
  const prefix = schema === undefined ? "" : `"${schema}".`;
  const parts: Record<string, string> = {
    scopes: `${prefix}frazil_scopes`,
    leases: `${prefix}frazil_leases`,
    segments: `${prefix}frazil_segments`,
    durable: DURABLE,
    server: sql,
    incarnation: isOurs ? `${sql}${tableIn(prefix)}${localTables(prefix, ["scopes", "leases"])}` : sql,
    incarnation_of_tags: isOurs ? `${sql}${localTables(prefix, ["segments"])}` : sql,
  };
  return (statement) =>
    statement.replace(
      /\{(scopes|leases|segments|server|incarnation|incarnation_of_tags|durable)\}/g,
      (_, part: string) => parts[part] as string,
    );
}
