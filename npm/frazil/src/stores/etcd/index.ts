/**
 * Leases in etcd, through its v3 HTTP gateway: a key for each node id, written by transactions that compare.
 *
 * ```js
 * import { EtcdStore } from "frazil/stores/etcd";
 *
 * const store = new EtcdStore({ endpoints: ["http://127.0.0.1:2379"] });
 * await store.init({ layout: "default" }); // once for each scope, by hand or from a deployment
 * ```
 *
 * It needs `fetch` and no client library, so that it runs in Node, Deno, Bun and Workers. The gateway is a part of every
 * member. Its answers have a `Date` header, which is the clock of the store: etcd's gRPC answers have no time.
 *
 * - **One transaction reads**: the record and the rows of one moment, in one round trip. Reads are linearizable.
 * - **One transaction writes**, on condition that the revision of the record and of the row are those that were read. A write
 *   that comes late, or twice, has no effect.
 * - **The clock is the answering member's** (`date-clock.ts`): at most a second behind it, and never ahead, as long as it is not set back.
 *   Neither this process's wall clock nor the other members' clocks matter.
 * - **Keys stay**: they have no lease of etcd's, because its end would not record when the window ended. The next window would begin too
 *   early if clocks differ, and an expired holder could not renew.
 *
 * Keys, below the prefix:
 *
 * | key | value, as JSON |
 * |---|---|
 * | `<scope>/scope` | the record |
 * | `<scope>/leases/<node>` | the row of a node id, ten digits. It begins with the end of the window, 16 digits: etcd sorts by it |
 * | `<scope>/grants/<grant>` | the node id that has the grant |
 *
 * **The incarnation** is the id of the cluster and an epoch: `cluster/epoch`. The epoch is a number in the record that only
 * grows. A restored snapshot has another cluster id, unless the restore was given the same token and the same peers; then these
 * show that the cluster went back, and each makes a later epoch with a fence:
 *
 * - the revision or the Raft term is lower than one that this store object saw before it asked, in the same epoch;
 * - the epoch is lower than one that it saw;
 * - the record or a row was written in a later Raft term than the current one, in the same epoch.
 *
 * A store object that finds a later epoch than it knows forgets what it saw before. The epoch was raised after the
 * loss: in the history that the object had seen, the record still had the earlier epoch. So one loss makes one fence, however
 * many see it. Neither compaction, defragmentation, a restart, another leader nor a member that is replaced lowers one of these
 * numbers, as linearizable reads show them.
 *
 * What it does not see: a cluster restored with the same token whose numbers are higher than all that were seen, or that are in
 * the keys. A holder finds its row too old at its next renewal. After a restore by hand, call `fence()`.
 */

import { wholeOf } from "../kit/answer-rows.js";
import { storeRefused, storeUnavailable } from "../kit/errors.js";
import type { Found } from "../kit/found-record.js";
import {
  type AcquireView,
  CompareAndSetStore,
  type LeaseTable,
  type RowView,
  type ScopeView,
} from "../kit/lease/compare-and-set.js";
import type { ScopeRecord } from "../kit/lease/requests.js";
import { freeRow, type LeaseRow, type Moment, type Scope, UNUSED } from "../kit/lease/rules.js";
import { newScope } from "../kit/lease/scope-record.js";
import type { AcquireRequest } from "../lease-store.js";
import { EtcdGateway, type EtcdStoreOptions } from "./gateway.js";
import {
  type EtcdRow,
  type EtcdScope,
  endOf,
  foundOf,
  get,
  headerOf,
  isAt,
  isMissing,
  jsonOf,
  Keys,
  type KeyValue,
  OLDEST,
  oldest,
  partsOf,
  put,
  type Result,
  recordValue,
  remove,
  rowOf,
  rowValue,
  scopeOf,
  textOf,
} from "./records.js";

export type * from "../lease-store.js";
/** @internal */
export { etcdDdl } from "./ddl.js";
export type { EtcdRequestInit, EtcdResponse, EtcdStoreOptions } from "./gateway.js";

/** How far a cluster had come when it answered, in an epoch of a scope. */
interface Position {
  /** As in the record. */
  readonly cluster: string;
  readonly epoch: number;
  readonly revision: bigint;
  readonly term: number;
}
/** How many keys one transaction may write: etcd allows 128 operations (`--max-txn-ops`). */
const MAX_ROWS = 100;
/** The number of answers that are remembered. Any other is refused after a restore, and the holder asks for another node id. */
const MAX_ANSWERED = 256;
/** Of an unused record, in a cluster that went back: `ensure` must raise the fence. */
const LOST = "lost";

/** The record and what else a transaction read, as of one moment. */
interface Snapshot extends ScopeView<EtcdScope> {
  readonly rows: readonly EtcdRow[];
  readonly grants: readonly number[];
}

class EtcdTable implements LeaseTable<EtcdScope, EtcdRow> {
  readonly #gateway: EtcdGateway;
  /** The last position in which each scope was seen. */
  readonly #seen = new Map<string, Position>();
  /** The grants of the last answers, with the revisions of their rows. */
  readonly #answered = new Set<string>();

  constructor(options: EtcdStoreOptions) {
    this.#gateway = new EtcdGateway(options);
  }

  async readForAcquire(request: AcquireRequest): Promise<AcquireView<EtcdScope, EtcdRow> | undefined> {
    const { scope, node, grant, signal } = request;
    const keys = this.#keys(scope);
    const preferred = node === undefined ? [] : [get(keys.lease(node))];
    const reads = [get(keys.grant(grant)), oldest(keys.leases, OLDEST), ...preferred];
    const view = await this.#read(scope, reads, signal);
    if (view === undefined) return undefined;
    const { rows, grants, moment } = view;
    const isPreferred = (row: EtcdRow) => row.node === node;
    const free = rows
      .filter((row, at) => row.untilMs <= moment.nowMs && rows.findIndex((other) => other.node === row.node) === at)
      .sort((a, b) => +isPreferred(b) - +isPreferred(a) || a.untilMs - b.untilMs || a.node - b.node);
    const earliestMs = rows.length === 0 ? 0 : Math.min(...rows.map(({ untilMs }) => untilMs));
    const [held] = grants;
    // Only of a repeated acquire: the row is not among those that were read.
    const own = held === undefined ? undefined : await this.readRow(scope, held, signal);
    const mine = own?.row?.grant === grant ? this.#known(own, own.row) : undefined;
    return { ...view, mine, free, earliestMs };
  }

  /**
   * The row of a repeated `acquire`. If the cluster went back since the first attempt was decided, that may have arrived after the
   * loss, where the row was free again. Then the row is not this holder's, unless this object had the answer.
   */
  #known({ scope, moment }: ScopeView<EtcdScope>, row: EtcdRow): EtcdRow {
    const isSameHistory = scope.incarnation === moment.incarnation && scope.epoch === row.epoch;
    return isSameHistory || this.#answered.has(`${row.grant} ${row.version}`) ? row : { ...row, nonce: null };
  }

  async readRow(
    scope: string,
    node: number,
    signal: AbortSignal | undefined,
  ): Promise<RowView<EtcdScope, EtcdRow> | undefined> {
    const view = await this.#read(scope, [get(this.#keys(scope).lease(node))], signal);
    return view && { ...view, row: view.rows[0] };
  }

  async readScope(scope: string, signal: AbortSignal | undefined): Promise<ScopeView<EtcdScope> | undefined> {
    return this.#read(scope, [], signal);
  }

  /**
   * Invariant: the row and the record are those of which was decided, and a grant has one row. Clock: none; that of the read.
   */
  async replaceRow(
    scope: string,
    view: ScopeView<EtcdScope>,
    seen: EtcdRow,
    row: LeaseRow,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const keys = this.#keys(scope);
    const isOther = row.grant !== seen.grant;
    const gone = isOther && seen.grant !== null ? [remove(keys.grant(seen.grant))] : [];
    const added = isOther && row.grant !== null ? [row.grant] : [];
    const { succeeded, header } = await this.#write(
      scope,
      view,
      [isAt(keys.lease(row.node), seen.version), ...added.map((grant) => isMissing(keys.grant(grant)))],
      [
        put(keys.lease(row.node), rowValue(row, view)),
        ...gone,
        ...added.map((grant) => put(keys.grant(grant), { node: row.node })),
      ],
      [],
      signal,
    );
    if (succeeded && added.length > 0) {
      this.#answered.add(`${row.grant} ${header.revision}`);
      const [oldestAnswer] = this.#answered;
      if (this.#answered.size > MAX_ANSWERED) this.#answered.delete(oldestAnswer as string);
    }
    return succeeded;
  }

  /** Invariant: rows are made for node ids from `nextNode` on, each once, together with the record that says so. */
  async makeRows(
    scope: string,
    view: ScopeView<EtcdScope>,
    last: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const keys = this.#keys(scope);
    let { scope: record } = view;
    while (record.nextNode <= last) {
      const from = record.nextNode;
      const nextNode = Math.min(last + 1, from + MAX_ROWS);
      const made = Array.from({ length: nextNode - from }, (_, at) => {
        const row = freeRow(from + at);
        return put(keys.lease(row.node), rowValue(row, view));
      });
      const { succeeded, found, header } = await this.#write(
        scope,
        { ...view, scope: record },
        [isMissing(keys.lease(from), keys.lease(nextNode))],
        [put(keys.scope, recordValue({ ...record, nextNode }, record.term)), ...made],
        [get(keys.scope)],
        signal,
      );
      if (!succeeded && found[0]?.[0]?.mod_revision === record.version)
        throw storeRefused(
          `the scope "${scope}" has rows of node ids from ${from} on, which its record does not know\nThe record was restored ` +
            "alone. Restore both of one moment, then call fence().",
        );
      if (!succeeded) return;
      record = { ...record, nextNode, version: String(header.revision) };
    }
  }

  /** Invariant: the fence and the epoch only grow. */
  async replaceScope(
    scope: string,
    view: ScopeView<EtcdScope>,
    raised: Scope,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const value = recordValue({ ...view.scope, ...raised }, view.scope.term);
    const { succeeded } = await this.#write(scope, view, [], [put(this.#keys(scope).scope, value)], [], signal);
    return succeeded;
  }

  /** Invariant: a record is written where there is neither a record nor a row. */
  async create(record: ScopeRecord): Promise<Found | undefined> {
    const keys = this.#keys(record.scope);
    const { header } = await this.#transaction([], [get(keys.scope)], [], true, undefined);
    const { cluster, term } = header;
    const value = recordValue(newScope(record, `${cluster}/0`), term);
    const { succeeded, found } = await this.#transaction(
      [isMissing(keys.scope), isMissing(keys.leases, endOf(keys.leases))],
      [put(keys.scope, value)],
      [get(keys.scope)],
      false,
      undefined,
    );
    if (succeeded) return undefined;
    const [other] = found[0] ?? [];
    return other ? scopeOf(other, header) : "rows";
  }

  placeOf(scope: string): string {
    return `the key ${this.#keys(scope).scope} of etcd at ${this.#gateway.urls.join(", ")}`;
  }

  #keys(scope: string): Keys {
    return new Keys(this.#gateway.prefix, scope);
  }

  /** Reads the record and more, and finds out whether the cluster went back. */
  async #read(name: string, reads: readonly object[], signal: AbortSignal | undefined): Promise<Snapshot | undefined> {
    // As of the moment of sending: answers may come in another order.
    const known = this.#seen.get(name);
    const keys = this.#keys(name);
    const { found, header, now } = await this.#transaction([], [get(keys.scope), ...reads], [], true, signal);
    const [[pair] = [], ...others] = found;
    if (pair === undefined) return undefined;
    const { writtenTerm, ...scope } = scopeOf(pair, header);
    const pairs = others.flat();
    const isRow = ({ key }: KeyValue) => textOf(key).startsWith(keys.leases);
    const rows = pairs.filter(isRow).map(rowOf);
    const grants = pairs
      .filter((other) => !isRow(other))
      .map((other) => wholeOf(`node of ${textOf(other.key)}`, jsonOf(other)["node"]));
    const isUnused = scope.incarnation === UNUSED;
    const { cluster, epoch } = isUnused ? { cluster: header.cluster, epoch: 0 } : partsOf(scope.incarnation);
    const terms = rows.filter((row) => row.epoch === epoch).map(({ term }) => term);
    const position = { cluster, epoch, revision: header.revision, term: header.term };
    const isBack = Math.max(writtenTerm, ...terms) > header.term || isBefore(position, known);
    const isChanged = isBack || cluster !== header.cluster;
    const next = isChanged ? Math.max(epoch, known?.epoch ?? 0) + 1 : epoch;
    const nowMs = now(...rows.map(({ writtenMs }) => writtenMs));
    const moment: Moment = { nowMs, incarnation: `${header.cluster}/${next}` };
    if (!isChanged) this.#saw(name, position);
    return { scope: isUnused && isBack ? { ...scope, incarnation: LOST } : scope, moment, rows, grants };
  }

  /**
   * Writes if the record is as it was read. A snapshot that is restored has the same revisions of keys, so that a write which was
   * decided before the loss has an effect behind it. The answer shows that, and then it is no grant.
   */
  async #write(
    name: string,
    { scope }: ScopeView<EtcdScope>,
    conditions: readonly object[],
    writes: readonly object[],
    reads: readonly object[],
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    const isSame = isAt(this.#keys(name).scope, scope.version);
    const result = await this.#transaction([isSame, ...conditions], writes, reads, false, signal);
    const { cluster, revision, term } = result.header;
    if (result.succeeded && (cluster !== scope.cluster || revision <= scope.revision || term < scope.term))
      throw storeUnavailable("the cluster was replaced, or went back, between the read and the write");
    return result;
  }

  /** Keeps how far a scope has come. */
  #saw(name: string, position: Position): void {
    const last = this.#seen.get(name);
    if (last === undefined || !isBefore(position, last)) this.#seen.set(name, position);
  }

  /** Runs a transaction: `onSuccess` if all conditions hold, else `onFailure`. One without conditions and writes is a read. */
  async #transaction(
    compare: readonly object[],
    onSuccess: readonly object[],
    onFailure: readonly object[],
    isRead: boolean,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    const body = { compare, success: onSuccess, failure: onFailure };
    const { body: answer, now } = await this.#gateway.call("kv/txn", body, isRead, signal);
    const { succeeded, responses = [] } = answer;
    const found = foundOf(responses);
    const header = headerOf(answer.header);
    // The revision and the term are the cluster's: what one scope shows counts for all.
    for (const [name, last] of this.#seen) {
      const position = { ...last, ...header };
      if (!isBefore(position, last)) this.#seen.set(name, position);
    }
    return { succeeded: succeeded === true, found, header, now };
  }
}

/** Whether a position cannot follow another one: the cluster went back, or it is another one. */
function isBefore({ cluster, epoch, revision, term }: Position, known: Position | undefined): boolean {
  if (known === undefined || epoch > known.epoch) return false;
  if (epoch < known.epoch || cluster !== known.cluster) return true;
  return revision < known.revision || term < known.term;
}

/** Leases in keys of etcd. */
export class EtcdStore extends CompareAndSetStore {
  /**
   * Checks what it is given. It sends no request.
   *
   * @throws {ConfigError} `INVALID_OPTION`.
   */
  constructor(options: EtcdStoreOptions) {
    super("etcd", new EtcdTable(options));
  }
}
