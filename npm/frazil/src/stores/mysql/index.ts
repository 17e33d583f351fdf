/**
 * Leases and segments in MariaDB and MySQL: one row for each node id and each tag, written by one read and one compare-and-set.
 *
 * ```js
 * import { MySqlStore } from "frazil/stores/mysql";
 *
 * const store = new MySqlStore(mysql.createPool({ uri, connectionLimit: 2 })); // of mysql2/promise
 * await store.migrate(); // tables; may run at each start
 * await store.init({ layout: "default" }); // once for each scope, by hand or in a migration
 * ```
 *
 * - **One `UPDATE` decides** each operation: it compares the row and the record with what was read, and the server with the
 *   one that was read. Each statement is a transaction, and nothing is left open when the connection breaks.
 * - **The clock is the server's**, in UTC, so no hour comes twice. A session whose clock `SET timestamp` has moved is refused.
 * - **Every isolation level**: what a read decides alone is a refusal, and every grant is written.
 * - **A grant is on disk before it is answered**: a server that is set up to lose commits is refused, at each operation.
 * - **A text of yours is sent as hexadecimal digits**: neither the mode `NO_BACKSLASH_ESCAPES` nor the character
 *   set of the connection matters.
 *
 * Not checked: `innodb_flush_method = nosync`, a disk that does not flush, several primaries at once, and on MySQL a client that cannot say
 * whether it is in a transaction of yours. Give the store a pool, or its own connection.
 */
import { configError } from "../../base/errors.js";
import { notInitialised } from "../kit/errors.js";
import { isNew } from "../kit/found-record.js";
import { CompareAndSetStore } from "../kit/lease/compare-and-set.js";
import { fencedScope } from "../kit/lease/requests.js";
import { PERMISSIONS } from "../kit/permissions.js";
import { type DdlTags, printedTags } from "../kit/segment/requests.js";
import { allocateFrom, makeTagIn } from "../kit/segment/tag-table.js";
import { withinLimit } from "../kit/set-up-limit.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../segment-store.js";
import type { MySqlClient } from "./client.js";
import { checkWidth, drawnText } from "./old-tables.js";
import { completion, type MySqlInitOptions, type MySqlStoreOptions, sourceOf, sourceText, tableOf } from "./options.js";
import { MySqlTags } from "./segments.js";
import { INSERT_RECORD, INSERT_TAG, LEASES, OLD_TABLES, RAISE_FENCE, SCOPES, SEGMENTS } from "./statements.js";
import { MySqlTable } from "./table.js";

export type * from "../lease-store.js";
export type * from "../segment-store.js";
export type { MySqlCallbackClient, MySqlClient, MySqlPromiseClient, MySqlStatement } from "./client.js";
export { CosIdSegments, LeafSegments, type OldSegmentsOptions, TinyidSegments } from "./old-segments.js";
export type { NodeIdsFrom } from "./old-tables.js";
export type { MySqlInitOptions, MySqlStoreOptions } from "./options.js";

const LEFT_RULE = "must take its node ids from an old table\nIt numbers them itself.";

/** Leases in the tables `frazil_scopes` and `frazil_leases`, and segments in `frazil_segments`. */
export class MySqlStore extends CompareAndSetStore implements ManagedSegmentStore {
  readonly #table: MySqlTable;
  readonly #tags: MySqlTags;

  /**
   * Checks what it is given. It runs no statement.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for a client that has no `query`; `INVALID_OPTION`.
   */
  constructor(client: MySqlClient, options: MySqlStoreOptions = {}) {
    const table = new MySqlTable(client, options);
    super(table.name, table);
    this.#table = table;
    this.#tags = new MySqlTags(client, options);
  }

  /** As `ManagedStore.migrate`. The right to create is needed only if a table is missing. */
  async migrate(): Promise<void> {
    await this.#table.migrate();
  }

  override async init(options: MySqlInitOptions): Promise<boolean> {
    const { record, source } = sourceOf(options);
    const create = (signal: AbortSignal) => this.#table.create(record, signal, source);
    return isNew({ ...record, nodeIdsFrom: tableOf(sourceText(source)) }, await withinLimit(this, "init()", create));
  }

  async allocate(request: AllocateRequest): Promise<Allocation> {
    return allocateFrom(this, this.#tags, request);
  }

  async initSegment(options: TagOptions): Promise<boolean> {
    return makeTagIn(this, this.#tags, options);
  }

  /**
   * Ends the time of the move: new node ids do not come from the table of the other generator any more, but follow its largest
   * number. Call it when no process of the other generator runs, and none can start. Holders go on.
   *
   * @throws {ConfigError} `STATE_CONFLICT` if the scope has its own node ids already.
   * @throws {LeaseError} `STORE_NOT_INITIALISED`, `STORE_REFUSED`, `STORE_UNAVAILABLE`.
   */
  async leaveOldTable(options?: { readonly scope?: string }): Promise<void> {
    const scope = fencedScope(options);
    const hasLeft = await this.#table.leave(scope);
    if (hasLeft === undefined) throw notInitialised(this, scope, await this.#table.placeOf(scope, undefined));
    if (!hasLeft) throw configError("STATE_CONFLICT", "scope", scope, LEFT_RULE);
  }
}

/**
 * What `migrate` and `init` (or `initSegment`) do, as SQL for people to read and run: the tables, the rights of a user,
 * the record of a scope, or those of tags. `role` is the name of a user, with a host behind an @ or from everywhere.
 *
 * @internal
 */
export function mysqlDdl(options: MySqlInitOptions | DdlTags, store: MySqlStoreOptions, role?: string): string {
  const { permissions, records } = "tags" in options ? tagRecords(options) : scopeRecord(options);
  // Commented out without a role, so that the whole can be passed to a client.
  const rights = permissions.map((right) =>
    role === undefined ? `-- ${right}` : right.replace("your_role", () => accountOf(role)),
  );
  const text = `-- The tables, once for each database.
${SCOPES};
${LEASES};
${SEGMENTS};

-- The rights of the user that your program connects as.
${rights.join("\n")}

${records}`;
  return completion(store, !("tags" in options))(text);
}

/**
 * What `fence` does, as SQL for people to read and run.
 *
 * @internal
 */
export function mysqlFence(name: string, store: MySqlStoreOptions): string {
  const scope = fencedScope({ scope: name });
  const text = `-- Raises the fence of the scope "${scope}" after a restore: nothing is granted before it.
-- On the primary, before the programs start: npx frazil fence mysql … | mariadb DATABASE (or mysql)
${RAISE_FENCE.replaceAll(":scope", () => `'${scope}'`)}`;
  return completion(store, true)(text);
}

interface Records {
  readonly permissions: readonly string[];
  readonly records: string;
}

function scopeRecord(options: MySqlInitOptions): Records {
  const { record, source } = sourceOf(options);
  const { scope, layout, nodeFrom, nodeTo, windowMaxMs } = record;
  const nodeIdsFrom = sourceText(source);
  const values: Record<string, string | number> = {
    scope: `'${scope}'`,
    layout: `'${layout}'`,
    from: nodeFrom,
    to: nodeTo,
    windowMax: windowMaxMs,
    nodeIdsFrom: nodeIdsFrom === null ? "NULL" : drawnText(nodeIdsFrom),
  };
  const permissions = [...PERMISSIONS];
  let first = ":from";
  let condition = source === "none" ? "1 = 1" : `NOT EXISTS (${OLD_TABLES})`;
  let check = "";
  let none = "this database has a table of UidGenerator or CosId: print this with --node-ids-from";
  if (typeof source === "object") {
    const { oldTable, allowEmpty } = source;
    checkWidth(oldTable, nodeTo);
    for (const [name, value] of Object.entries(oldTable.values)) values[name] = `'${value}'`;
    permissions.push(oldTable.permission);
    const largest = allowEmpty ? `COALESCE(${oldTable.largest}, -1)` : oldTable.largest;
    first = `1 + ${largest}`;
    condition = `${largest} <= :to AND ${oldTable.engine} = 'InnoDB'`;
    check = `${oldTable.check};\n`;
    none = `${oldTable.name} has no row of the fleet, or a number that the layout has no room for, or it is not InnoDB`;
  }
  const insert = INSERT_RECORD.replace("{first}", () => first).replace("{condition}", () => condition);
  return {
    permissions,
    records: `-- The record of the scope "${scope}", once, on the primary. It fails if there is one: leave that as it is.
-- The last statement shows it. If it shows none, ${none}; or the scope has rows, whose record was deleted.
${(check + insert).replace(/:([a-z]\w*)/gi, (_, name: string) => `${values[name]}`)}`,
  };
}

function tagRecords(given: DdlTags): Records {
  const { tags, first } = printedTags(given);
  const records = tags.map((tag) => INSERT_TAG.replace(":first", () => first).replaceAll(":tag", () => `'${tag}'`));
  return {
    permissions: PERMISSIONS,
    records: `-- The records of tags, on the primary. ${first} is the first number. One that is there stays as it is.
${records.join("")}`,
  };
}

/** An account: a name, and the hosts that it connects from. */
function accountOf(role: string): string {
  const at = role.lastIndexOf("@");
  const [user, host] = at < 0 ? [role, "%"] : [role.slice(0, at), role.slice(at + 1)];
  const quoted = (name: string) => `\`${name.replaceAll("`", "``")}\``;
  return `${quoted(user)}@${quoted(host)}`;
}
