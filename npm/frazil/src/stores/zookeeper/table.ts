/** Scopes as znodes: their paths, their texts, and what each operation reads and writes. */

import { optionError } from "../kit/argument-errors.js";
import { storeRefused } from "../kit/errors.js";
import type { Initialised } from "../kit/found-record.js";
import {
  type AcquireView,
  CompareAndSetStore,
  DRAWN_FROM,
  type LeaseTable,
  type RowView,
  type ScopeView,
} from "../kit/lease/compare-and-set.js";
import type { ScopeRecord } from "../kit/lease/requests.js";
import { freeRow, type LeaseRow, type Moment, type Scope } from "../kit/lease/rules.js";
import {
  fieldsOf,
  newScope,
  type StoredScope,
  storedFields,
  TEXT_FIELDS,
  WHOLE_FIELDS,
} from "../kit/lease/scope-record.js";
import type { AcquireRequest } from "../lease-store.js";
import {
  type Acl,
  Code,
  type Operation,
  Session,
  type Stat,
  startUnlessAborted,
  type Znode,
  type ZooKeeperClient,
} from "./session.js";

/** The options of a `ZooKeeperStore`. */
export interface ZooKeeperStoreOptions {
  /** The znode that has the scopes. Default: `"/frazil"`. */
  readonly prefix?: string;
  /**
   * The ACL of the znodes that the store makes, as the client has it, such as `zookeeper.ACL.CREATOR_ALL_ACL`. Every process of a
   * scope passes the same. Default: that of the znode of the record. For `init()`: everything for everybody.
   */
  readonly acl?: readonly unknown[];
  /**
   * How to detect an ensemble that may have lost acknowledged writes.
   *
   * - `"epoch"` (default): by the epoch of its leader. Each election is a fence: nothing new is granted for `windowMaxMs` and 5
   *   seconds, and holders go on.
   * - `"none-accepting-repeats-after-restore"`: not at all. After a restore without `fence()`, IDs repeat.
   */
  readonly incarnation?: "epoch" | "none-accepting-repeats-after-restore";
}

/** Rows that are made in one transaction: some 300 bytes each, and a server takes no request over 1 MB. */
const MOST_ROWS = 512;

const PREFIX_RULE =
  "must be the path of a znode, parts of letters, digits, _, . or -, each behind a /\nFor example /frazil.";
const ACL_RULE = "must be an array of at least one ACL of the client\nFor example ACL.CREATOR_ALL_ACL.";
const INCARNATION_RULE = 'must be "epoch" or "none-accepting-repeats-after-restore"';

/** The record of a scope, as `acquire` found it. @internal */
export interface ZooKeeperScope extends StoredScope {
  /** Where new node ids come from, or came from until `leave`: `leaf:NAME`, `leaf:NAME, left`. Undefined: they are numbered here. */
  readonly nodeIdsFrom?: string | undefined;
  /** The version of its znode, which every transaction compares. */
  readonly version: number;
}

/** Behind `nodeIdsFrom` of a scope that numbers by itself. @internal */
export const LEFT = ", left";

/** A row, as it was read. @internal */
export interface ZooKeeperRow extends LeaseRow {
  readonly version: number;
}

/** @internal */
export type View = ScopeView<ZooKeeperScope> & { readonly acl: Acl };
/** @internal */
export type ZooKeeperAcquireView = AcquireView<ZooKeeperScope, ZooKeeperRow> & View;
/** @internal */
export type Signal = AbortSignal | undefined;

/** A 64-bit number of a stat. It is below 2^53: a time. @internal */
export const wide = (bytes: Uint8Array): number =>
  Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigInt64(0));
/** The epoch of the leader that wrote a znode: the upper half of the zxid. */
const epochOf = (zxid: Uint8Array): number => new DataView(zxid.buffer, zxid.byteOffset, 8).getUint32(0);

/** The paths of a scope. @internal */
export interface Paths {
  readonly record: string;
  readonly clock: string;
  /** The rows, by node id. */
  readonly leases: string;
  /** A znode for each row, called by its end and its node id: one call lists all, the oldest first when sorted. */
  readonly ends: string;
  /** A znode for each grant, with its node id. */
  readonly grants: string;
}

/** @internal */
export function pathsOf(prefix: string, scope: string): Paths {
  const record = `${prefix}/${scope}`;
  return {
    record,
    clock: `${record}/clock`,
    leases: `${record}/leases`,
    ends: `${record}/ends`,
    grants: `${record}/grants`,
  };
}

/** The name of a row in `ends`: 16 digits, so that names are sorted as numbers are. @internal */
export const endOf = ({ untilMs, node }: { untilMs: number; node: number }): string =>
  `${String(untilMs).padStart(16, "0")}-${node}`;

/** The text of a row: JSON that people can read with `get` of zkCli. @internal */
const textOfRow = ({ node, fromMs, untilMs, grant, nonce, owner }: LeaseRow): string =>
  JSON.stringify({ node, fromMs, untilMs, grant, nonce, owner });

/** The text of a record. @internal */
export const textOfRecord = ({ nodeIdsFrom, ...record }: Omit<ZooKeeperScope, "version">): string =>
  JSON.stringify({ ...storedFields(record), nodeIdsFrom });

function rowOf(path: string, node: number, { text, stat }: Znode): ZooKeeperRow {
  const { fromMs, untilMs, grant, nonce, owner } = fieldsOf<LeaseRow>(
    `the znode ${path}`,
    text,
    ["node", "fromMs", "untilMs"],
    [],
  );
  return {
    node,
    fromMs,
    untilMs,
    grant: grant ?? null,
    nonce: nonce ?? null,
    owner: owner ?? null,
    version: stat.version,
  };
}

function scopeOf(path: string, { text, stat }: Znode): ZooKeeperScope {
  const fields = fieldsOf<ZooKeeperScope>(`the znode ${path}`, text, WHOLE_FIELDS, TEXT_FIELDS);
  return { ...storedFields(fields), nodeIdsFrom: fields.nodeIdsFrom, version: stat.version };
}

/** The option `prefix`, checked. @internal */
export function prefixOf(prefix: unknown = "/frazil"): string {
  if (typeof prefix !== "string" || !/^(\/[\w-][\w.-]*)+$/.test(prefix))
    throw optionError("prefix", prefix, PREFIX_RULE);
  return prefix;
}

/** The record and the rows of scopes, as znodes. @internal */
export class ZooKeeperTable implements LeaseTable<ZooKeeperScope, ZooKeeperRow> {
  readonly session: Session;
  readonly prefix: string;
  /** What `nodeIdsFrom` of a new record is. */
  readonly source: string | undefined;
  readonly #hasEpochs: boolean;

  constructor(client: unknown, options: ZooKeeperStoreOptions, source?: string) {
    const { prefix, acl, incarnation = "epoch" } = options;
    if (acl !== undefined && !(Array.isArray(acl) && acl.length > 0)) throw optionError("acl", acl, ACL_RULE);
    if (incarnation !== "epoch" && incarnation !== "none-accepting-repeats-after-restore")
      throw optionError("incarnation", incarnation, INCARNATION_RULE);
    this.prefix = prefixOf(prefix);
    this.session = new Session(client, acl);
    this.source = source;
    this.#hasEpochs = incarnation === "epoch";
  }

  /**
   * Writes the clock of a scope and reads the record. What is called on the client right after this, without a pause, is sent
   * behind it, in the same round trip: a session is answered in order, and reads what its write was before.
   */
  async readView(client: ZooKeeperClient, { record, clock }: Paths): Promise<View | undefined> {
    const [written, found, acl] = await Promise.all([
      this.session.set(client, clock, ""),
      this.session.get(client, record),
      this.session.aclOf(client, record),
    ]);
    // An empty record is one that `init` or a person has begun and not ended.
    if (found === undefined || found.text === "") return undefined;
    const scope = scopeOf(record, found);
    this.checkSource(record, scope.nodeIdsFrom);
    if (written === undefined)
      throw storeRefused(`the znode ${clock} is missing\nMake it again with zkCli: create ${clock}.`);
    return { scope, moment: this.momentOf(written), acl };
  }

  /** Refuses a scope whose new node ids come from another source than this store's. */
  checkSource(path: string, source: string | undefined): void {
    if (source !== undefined && !source.endsWith(LEFT))
      throw storeRefused(
        `the scope at ${path} takes its node ids from ${source}\nUse LeafStore with that leafName, or call its leave() first.`,
      );
  }

  momentOf({ mtime, mzxid }: Stat): Moment {
    return { nowMs: wide(mtime), incarnation: this.#hasEpochs ? `epoch ${epochOf(mzxid)}` : "none" };
  }

  async row(client: ZooKeeperClient, { leases }: Paths, node: number): Promise<ZooKeeperRow | undefined> {
    const path = `${leases}/${node}`;
    const found = await this.session.get(client, path);
    return found && rowOf(path, node, found);
  }

  readForAcquire(request: AcquireRequest): Promise<ZooKeeperAcquireView | undefined> {
    return startUnlessAborted(request.signal, () => this.#readForAcquire(request));
  }

  async #readForAcquire({ scope: name, grant, node: preferred }: AcquireRequest) {
    const client = await this.session.client();
    const paths = pathsOf(this.prefix, name);
    const [view, held, ends] = await Promise.all([
      this.readView(client, paths),
      this.session.get(client, `${paths.grants}/${grant}`),
      this.session.children(client, paths.ends),
    ]);
    if (view === undefined) return undefined;
    if (ends === undefined) throw storeRefused(`the znode ${paths.ends} is missing\nRestore it, then call fence().`);
    const sorted = [...ends.names].sort();
    const { nowMs } = view.moment;
    const nodes: number[] = [];
    for (const end of sorted) {
      const [untilMs, node] = end.split("-").map(Number) as [number, number];
      if (untilMs > nowMs || nodes.length === DRAWN_FROM) break;
      if (node !== preferred) nodes.push(node);
    }
    if (preferred !== undefined) nodes.unshift(preferred);
    const [mine, ...rows] = await Promise.all([
      held && this.row(client, paths, Number(held.text)),
      ...nodes.map((node) => this.row(client, paths, node)),
    ]);
    return {
      ...view,
      mine: mine?.grant === grant ? mine : undefined,
      free: rows.filter((row): row is ZooKeeperRow => row !== undefined && row.untilMs <= nowMs),
      earliestMs: sorted[0] === undefined ? undefined : Number(sorted[0].split("-")[0]),
    };
  }

  readRow(scope: string, node: number, signal: Signal): Promise<RowView<ZooKeeperScope, ZooKeeperRow> | undefined> {
    const read = async () => {
      const client = await this.session.client();
      const paths = pathsOf(this.prefix, scope);
      const [view, row] = await Promise.all([this.readView(client, paths), this.row(client, paths, node)]);
      return view && { ...view, row };
    };
    return startUnlessAborted(signal, read);
  }

  readScope(scope: string, signal: Signal): Promise<View | undefined> {
    const read = async () => this.readView(await this.session.client(), pathsOf(this.prefix, scope));
    return startUnlessAborted(signal, read);
  }

  placeOf(scope: string): string {
    return `the znode ${pathsOf(this.prefix, scope).record}, which is below the chroot of the client if it has one`;
  }

  waitsFor(): string | undefined {
    return this.session.waitsFor();
  }

  /** What is written besides with a row: nothing. */
  besides(_name: string, _scope: ZooKeeperScope, _row: LeaseRow): readonly Operation[] {
    return [];
  }

  /**
   * Invariant: a row is replaced only if it and the record are as they were read: a fence that was raised since, or another incarnation
   * that was seen, makes the transaction fail. A transaction that arrives late, after a pause of this process or of the network, fails for
   * the same reason.
   */
  async replaceRow(name: string, view: View, seen: ZooKeeperRow, row: LeaseRow, signal: Signal): Promise<boolean> {
    const { record, leases, ends, grants } = pathsOf(this.prefix, name);
    const operations: Operation[] = [
      { check: record, version: view.scope.version },
      { set: `${leases}/${row.node}`, text: textOfRow(row), version: seen.version },
    ];
    if (seen.untilMs !== row.untilMs)
      operations.push({ remove: `${ends}/${endOf(seen)}` }, { create: `${ends}/${endOf(row)}`, text: "" });
    if (seen.grant !== row.grant) {
      if (seen.grant !== null) operations.push({ remove: `${grants}/${seen.grant}` });
      if (row.grant !== null) operations.push({ create: `${grants}/${row.grant}`, text: String(row.node) });
    }
    operations.push(...this.besides(name, view.scope, row));
    return startUnlessAborted(signal, () => this.write(operations, 2, view.acl));
  }

  /**
   * Whether a transaction was done. Its first operations compare versions: one of those that fails was a lost race. If they
   * hold, the others hold as well, unless a person has changed znodes; a grant that exists is a retry that was faster.
   */
  async write(operations: readonly Operation[], comparing: number, acl: Acl): Promise<boolean> {
    const outcome = await this.session.all(await this.session.client(), operations, acl);
    if ("made" in outcome) return true;
    const { at, code } = outcome;
    const failed = operations[at] as Operation;
    const isRace = at < comparing || ("create" in failed && failed.create.includes("/grants/"));
    if (isRace && (code === Code.BAD_VERSION || code === Code.NO_NODE || code === Code.NODE_EXISTS)) return false;
    throw storeRefused(
      `the znodes of the scope do not fit together: ${JSON.stringify(failed)} fails with the code ${code}\nThey were changed by hand. Restore them, then call fence().`,
    );
  }

  /** Invariant: rows are made in order, and the mark in the record moves in the same transaction. */
  async makeRows(name: string, { scope, acl }: View, last: number, signal: Signal): Promise<void> {
    const { record, leases, ends } = pathsOf(this.prefix, name);
    const { nextNode } = scope;
    const end = Math.min(last + 1, nextNode + MOST_ROWS);
    const made = { ...scope, nextNode: end };
    const operations: Operation[] = [{ set: record, text: textOfRecord(made), version: scope.version }];
    for (let node = nextNode; node < end; node++) operations.push(...newRow(leases, ends, node));
    await startUnlessAborted(signal, () => this.write(operations, 1, acl));
  }

  async replaceScope(name: string, { scope }: View, raised: Scope, signal: Signal): Promise<boolean> {
    const { record } = pathsOf(this.prefix, name);
    const { version } = scope;
    const write = async () => {
      const client = await this.session.client();
      return this.session.set(client, record, textOfRecord({ ...scope, ...raised }), version);
    };
    return (await startUnlessAborted(signal, write)) !== undefined;
  }

  /**
   * Makes the znodes of a scope one after the other, and the text of the record last: on condition that its version is a new znode's. So a
   * call that was broken off can be repeated, and of two calls one writes.
   */
  async create(record: ScopeRecord): Promise<Initialised | undefined> {
    const client = await this.session.client();
    const paths = pathsOf(this.prefix, record.scope);
    for (const path of [...parentsOf(this.prefix), paths.record]) await this.session.make(client, path, "");
    const acl = await this.session.aclOf(client, paths.record);
    for (const path of partsOf(paths)) await this.session.make(client, path, "", acl);
    const written = await this.session.set(client, paths.clock, "");
    if (written === undefined) throw storeRefused(`the znode ${paths.clock} is missing\nCall init() again.`);
    const text = textOfRecord({ ...newScope(record, this.momentOf(written).incarnation), nodeIdsFrom: this.source });
    if ((await this.session.set(client, paths.record, text, 0)) !== undefined) return undefined;
    const found = await this.session.get(client, paths.record);
    if (found === undefined || found.text === "")
      throw storeRefused(
        `the znode ${paths.record} is empty and was written before\nDelete it (deleteall) if the scope is new.`,
      );
    const { layout, nodeFrom, nodeTo, nodeIdsFrom } = scopeOf(paths.record, found);
    this.checkSource(paths.record, nodeIdsFrom);
    return { layout, nodeFrom, nodeTo };
  }
}

/** The znodes of a scope, each behind the one that it is in. @internal */
export const znodesOf = (prefix: string, paths: Paths): readonly string[] => [
  ...parentsOf(prefix),
  paths.record,
  ...partsOf(paths),
];

const partsOf = ({ clock, leases, ends, grants }: Paths): readonly string[] => [clock, leases, ends, grants];

/** The znode that has the scopes, behind those that it is in. @internal */
export const parentsOf = (prefix: string): readonly string[] =>
  prefix
    .split("/")
    .slice(1)
    .map((_, at, parts) => `/${parts.slice(0, at + 1).join("/")}`);

/** Makes the row of a node id. It is written twice, so that its version is not 0. @internal */
export function newRow(leases: string, ends: string, node: number, untilMs = 0): readonly Operation[] {
  const row = freeRow(node, untilMs);
  const path = `${leases}/${node}`;
  const text = textOfRow(row);
  return [
    { create: path, text: "" },
    { set: path, text },
    { create: `${ends}/${endOf(row)}`, text: "" },
  ];
}

/** A store whose client it may have made itself. */
export class ZnodeStore extends CompareAndSetStore {
  readonly #session: Session;

  /** @internal */
  constructor(name: string, table: ZooKeeperTable) {
    super(name, table);
    this.#session = table.session;
  }

  /**
   * Closes the client that the function has made: at once if it has a session, else as soon as it gets one. A client that you
   * passed yourself stays open. Call it after `close()` of the generators, and where `lease()` rejects: a client that is open
   * keeps the process alive. Operations of the store are refused from then on.
   *
   * While no server answers, a client of `node-zookeeper-client` goes on connecting, and cannot be closed: end such a process with
   * `process.exit()`.
   */
  close(): Promise<void> {
    return this.#session.close();
  }

  /** `close()`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
