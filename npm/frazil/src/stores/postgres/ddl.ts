/** What npx frazil ddl and npx frazil fence print: SQL for psql. */

import { fencedScope, recordOf } from "../kit/lease/requests.js";
import { PERMISSIONS } from "../kit/permissions.js";
import type { DdlTags } from "../kit/segment/requests.js";
import { FENCE_MARGIN_MS, type InitOptions } from "../lease-store.js";
import { INSERT_RECORD, TABLES } from "./lease-statements.js";
import { completion, type PostgresStoreOptions } from "./options.js";
import { tagRecords } from "./segments.js";

/**
 * What `migrate` and `init` (or `initSegment`) do, as SQL for people to read and run: the tables, the rights of a role, the
 * record of a scope, or those of tags.
 *
 * @internal
 */
export function postgresDdl(options: InitOptions | DdlTags, store: PostgresStoreOptions, role?: string): string {
  // Commented out without a role, so that the whole can be passed to psql.
  const rights = PERMISSIONS.map((right) =>
    role === undefined ? `-- ${right}` : right.replace("your_role", quoted(role)),
  );
  const text = `-- The tables, once for each database.
${TABLES}
-- The rights of the role that your program connects as.
${rights.join("\n")}

${"tags" in options ? tagRecords(options) : scopeRecord(options)}`;
  return completion(store)(text);
}

function scopeRecord(options: InitOptions): string {
  const { scope, layout, nodeFrom, nodeTo, windowMaxMs } = recordOf(options);
  const values = [`'${scope}'`, `'${layout}'`, nodeFrom, nodeTo, windowMaxMs];
  return `-- The record of the scope "${scope}", once, on the primary. It fails if there is one: leave that as it is.
${INSERT_RECORD.replace(/\$(\d)/g, (_, at) => `${values[at - 1]}`)}`;
}

/**
 * What `fence` does, as SQL for people to read and run.
 *
 * @internal
 */
export function postgresFence(name: string, store: PostgresStoreOptions): string {
  const scope = fencedScope({ scope: name });
  return completion(store)(`-- Raises the fence of the scope "${scope}" after a restore: nothing is granted before it.
-- On the primary, before the programs start: npx frazil fence postgres … | psql -v ON_ERROR_STOP=1 "$DATABASE_URL"
BEGIN; -- also where the client commits nothing by itself
DO $frazil$ BEGIN
  PERFORM {durable};
  UPDATE {scopes} SET incarnation = ({incarnation})::text, fence_ms = greatest(fence_ms,
    floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + window_max_ms + ${FENCE_MARGIN_MS})
  WHERE scope = '${scope}';
  IF NOT FOUND THEN RAISE EXCEPTION 'this database has no scope "${scope}"'; END IF;
END $frazil$;
COMMIT;
SELECT scope, to_timestamp(fence_ms / 1000.0) AS nothing_is_granted_before FROM {scopes} ORDER BY scope;
`);
}

/** A name as an identifier of SQL. */
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
