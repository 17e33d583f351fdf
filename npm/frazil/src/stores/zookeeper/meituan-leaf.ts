/**
 * Leases beside the Java servers of Meituan Leaf: node ids come from Leaf's own numbering, so that both mint at the same time
 * and no ID repeats.
 *
 * - **A new node id is a number that Leaf's folder hands out**: a znode that Leaf's servers read as one of theirs. ZooKeeper
 *   never hands out a number twice, so no Java server has it, or gets it later.
 * - **A number of a Java server is never granted.** A server that has lost ZooKeeper mints on, by the number in its local file.
 *   `adopt` hands over the number of one that was stopped for good.
 * - **Number 0 is never taken**: a server that finds no folder makes it, and uses 0 whatever its number is.
 * - **The znode in Leaf's folder has the end of the window as its time**, so Leaf's start check says no until then.
 */

import { type ConfigError, configError, saidOf } from "../../base/errors.js";
import { checkKeys } from "../../base/option-keys.js";
import { allNodes } from "../../layout/default-nodes.js";
import { checkGiven, optionError } from "../kit/argument-errors.js";
import { notInitialised, storeRefused, storeUnavailable } from "../kit/errors.js";
import type { Initialised } from "../kit/found-record.js";
import { fencedScope, type ScopeRecord, scopeOf } from "../kit/lease/requests.js";
import type { LeaseRow } from "../kit/lease/rules.js";
import { type AcquireRequest, FENCE_MARGIN_MS } from "../lease-store.js";
import { type Acl, type Operation, type Stat, startUnlessAborted, type ZooKeeperClient } from "./session.js";
import {
  LEFT,
  newRow,
  type Paths,
  parentsOf,
  pathsOf,
  type Signal,
  textOfRecord,
  type View,
  wide,
  ZnodeStore,
  type ZooKeeperAcquireView,
  type ZooKeeperScope,
  type ZooKeeperStoreOptions,
  ZooKeeperTable,
} from "./table.js";

/** The options of a `LeafStore`. */
export interface LeafStoreOptions extends ZooKeeperStoreOptions {
  /** `leaf.name` of the Java servers: their znodes are in `/snowflake/<leaf.name>/forever`. */
  readonly leafName: string;
}

/** What `adopt` is given. */
export interface AdoptOptions {
  /** Default: `"default"`. */
  readonly scope?: string;
  /** The number of the server. */
  readonly node: number;
  /** Its address, as the name of its znode has it, such as `"10.0.0.7:8080"`. */
  readonly address: string;
}

/** How long a server must have been silent before its number can be handed over. A server that runs writes every 3 s. */
const SILENT_MS = 5 * 60 * 1000;
/** How often the row of a new number is tried. */
const TRIES = 5;

const NAME_RULE = "must be the leaf.name of the Java servers, one part of a path";
const LAYOUT_RULE =
  'must be "leaf", or have its fields (time 41, node 10, sequence 12, ticks of 1 ms)\nIDs of another layout would meet those of the Java servers.';
const FROM_RULE =
  ", the next number of Leaf's folder\nThose below nodes.from would be used up, and Leaf hands out none twice.";
const NUMBER_RULE =
  "must be a node id of the scope, and not 0\nServers that start at once where no folder is all mint with 0, whatever their numbers are.";
const ADDRESS_RULE = "must be the ip:port of a Java server in Leaf's folder, with this number";

/** What Leaf keeps of a server. It reads no further fields. */
interface Endpoint {
  readonly ip: string;
  readonly port: string;
  readonly timestamp: number;
}

/** Leaf's name of a server: `ip:port-number`. It splits the name at "-", so nothing else may contain one. */
const addressOf = (scope: string): { ip: string; port: string } => ({
  ip: `frazil.${scope.replaceAll("-", ".")}`,
  port: "0",
});
const nameOf = (scope: string): string => {
  const { ip, port } = addressOf(scope);
  return `${ip}:${port}-`;
};
const textOf = (scope: string, timestamp: number): string => JSON.stringify({ ...addressOf(scope), timestamp });

/** What the server adds to a name next: it reports twice the znodes that were ever made, less those that are left. */
const nextOf = ({ cversion, numChildren }: Stat): number => (cversion + numChildren) / 2;

/** Before the identity of the folder, once `leave` was called. */
const LEAVING = "left ";
const LEAVING_RULE =
  "leave() was called for the scope, so no number of Leaf's folder is taken\nIf it did not end, call it again.";
const LEFT_RULE = "must take its node ids from Leaf's folder\nIt numbers them itself.";

/** The transaction that made a znode: no two have the same. */
const identityOf = ({ czxid }: Stat): string => Buffer.from(czxid).toString("hex");

/** Rows whose node ids are numbers of Leaf's folder. */
class LeafTable extends ZooKeeperTable {
  /** The last one too, if the folder hands it out. */
  readonly nodesByDefault = allNodes;
  readonly folder: string;

  constructor(client: unknown, { leafName, ...options }: LeafStoreOptions) {
    super(client, options, `leaf:${leafName}`);
    if (typeof leafName !== "string" || !/^[^/\s]+$/.test(leafName) || /^\.\.?$/.test(leafName))
      throw optionError("leafName", leafName, NAME_RULE);
    this.folder = `/snowflake/${leafName}/forever`;
  }

  #path(scope: string, node: number): string {
    return `${this.folder}/${nameOf(scope)}${String(node).padStart(10, "0")}`;
  }

  #missing() {
    return storeRefused(
      `Leaf's folder ${this.folder} is missing\nCheck leafName. The first Java server makes it: a server that finds none takes the number 0 ` +
        "whatever ZooKeeper says, so this store never makes it.",
    );
  }

  override async create(record: ScopeRecord): Promise<Initialised | undefined> {
    if (!/ 1ms time41 node10 sequence12$/.test(record.layout))
      throw configError("INVALID_OPTION", "layout", record.layout, LAYOUT_RULE);
    const client = await this.session.client();
    const folder = await this.session.stat(client, this.folder);
    if (folder === undefined) throw this.#missing();
    const largestFrom = Math.max(1, nextOf(folder));
    if (record.nodeFrom > largestFrom)
      throw configError("INVALID_OPTION", "nodes.from", record.nodeFrom, `must be at most ${largestFrom}${FROM_RULE}`);
    const { record: path } = pathsOf(this.prefix, record.scope);
    for (const parent of [...parentsOf(this.prefix), path]) await this.session.make(client, parent, "");
    const known = `${path}/folder`;
    const identity = identityOf(folder);
    await this.session.make(client, known, identity, await this.session.aclOf(client, path));
    // Transactions compare its version, which must not be 0. A scope that exists has written it.
    await this.session.set(client, known, identity, 0);
    return super.create(record);
  }

  override checkSource(path: string, source: string | undefined): void {
    if (source !== this.source && source !== `${this.source}${LEFT}`)
      throw storeRefused(
        `the scope at ${path} ${source === undefined ? "numbers its node ids by itself\nUse ZooKeeperStore." : `takes its node ids from ${source}\nPass that leafName.`}`,
      );
  }

  /** Invariant: the folder is the one of `init`: another one counts from 0, and hands out the numbers of servers that run. */
  async #folder(client: ZooKeeperClient, { record }: Paths, isLeaving = false): Promise<Stat> {
    const [folder, known] = await Promise.all([
      this.session.stat(client, this.folder),
      this.session.get(client, `${record}/folder`),
    ]);
    const text = known?.text ?? "";
    if (text.startsWith(LEAVING) && !isLeaving) throw storeUnavailable(LEAVING_RULE);
    if (folder === undefined) throw this.#missing();
    if (text.replace(LEAVING, "") !== identityOf(folder))
      throw storeRefused(
        `Leaf's folder ${this.folder} was deleted and made again since init()\nIt hands out numbers of servers that may still mint. ` +
          "Stop the servers of both generations, start those of Leaf, and use another scope.",
      );
    return folder;
  }

  #hasLeft({ nodeIdsFrom }: ZooKeeperScope): boolean {
    return nodeIdsFrom !== this.source;
  }

  override async readForAcquire(request: AcquireRequest): Promise<ZooKeeperAcquireView | undefined> {
    const read = async () => {
      const view = await super.readForAcquire(request);
      if (view === undefined || this.#hasLeft(view.scope)) return [view] as const;
      return [view, await this.#folder(await this.session.client(), pathsOf(this.prefix, request.scope))] as const;
    };
    const [view, folder] = await startUnlessAborted(request.signal, read);
    if (view === undefined || folder === undefined) return view;
    const nextNode = nextOf(folder);
    const sharedWith = `the folder ${this.folder} of Leaf, whose largest number is ${nextNode - 1}\nHand over numbers of Java servers that are stopped for good, with adopt().`;
    return { ...view, scope: { ...view.scope, nextNode, sharedWith } };
  }

  /**
   * Takes a number of Leaf's folder and makes its row. Invariant: a number that this call was given belongs to no one else, so its row is a
   * new node id's. If the answer is lost, the number is never used.
   */
  override async makeRows(name: string, view: View, last: number, signal: Signal): Promise<void> {
    const { scope, acl } = view;
    if (this.#hasLeft(scope)) return super.makeRows(name, view, last, signal);
    const { record, leases, ends } = pathsOf(this.prefix, name);
    const work = async () => {
      const client = await this.session.client();
      const known = await this.session.get(client, `${record}/folder`);
      if (known === undefined || known.text.startsWith(LEAVING)) throw storeUnavailable(LEAVING_RULE);
      const create = `${this.folder}/${nameOf(name)}`;
      const outcome = await this.session.all(client, [{ create, text: textOf(name, 0), isSequential: true }], acl);
      if (!("made" in outcome)) throw this.#missing();
      const node = Number(outcome.made.slice(-10));
      // 0: a Java server that found no folder, and makes it at this moment, uses 0 as well.
      if (node === 0 || node < scope.nodeFrom || node > scope.nodeTo) return;
      // A number that is taken after `leave` is one that the store numbers itself.
      const check = { check: `${record}/folder`, version: known.stat.version };
      await this.#addRow(client, [check, ...newRow(leases, ends, node)], acl);
    };
    await startUnlessAborted(signal, work);
  }

  async #addRow(client: ZooKeeperClient, operations: readonly Operation[], acl: Acl): Promise<void> {
    for (let tries = 0; tries < TRIES; tries++) {
      const outcome = await this.session.all(client, operations, acl);
      if ("made" in outcome) return;
      if (outcome.at === 0) throw storeUnavailable(LEAVING_RULE);
    }
    throw storeUnavailable("the row of a new number of Leaf's folder could not be made");
  }

  /** The time in Leaf's folder: Leaf's start check says no until the window is over. */
  override besides(name: string, scope: ZooKeeperScope, { node, untilMs }: LeaseRow): readonly Operation[] {
    return this.#hasLeft(scope) ? [] : [{ set: this.#path(name, node), text: textOf(name, untilMs) }];
  }

  /**
   * Ends the time of the move. Invariant: every number that has a row, or gets one by Leaf's numbering, is below the next new one:
   * first no row can be added, then the numbers are read, then the record is written. Repeating it ends a call that was broken off.
   * Resolves to whether there was something to leave.
   */
  async leave(name: string): Promise<boolean | undefined> {
    const client = await this.session.client();
    const paths = pathsOf(this.prefix, name);
    for (let tries = 0; tries < TRIES; tries++) {
      const view = await this.readView(client, paths);
      if (view === undefined || this.#hasLeft(view.scope)) return view && false;
      const { scope, moment } = view;
      const folder = await this.#folder(client, paths, true);
      await this.#checkSilent(client, name, moment.nowMs);
      await this.session.set(client, `${paths.record}/folder`, `${LEAVING}${identityOf(folder)}`);
      const nextNode = nextOf(await this.#folder(client, paths, true));
      const left = { ...scope, nextNode: Math.max(nextNode, scope.nodeFrom), nodeIdsFrom: `${this.source}${LEFT}` };
      const written = await this.session.set(client, paths.record, textOfRecord(left), scope.version);
      if (written !== undefined) return true;
    }
    throw storeUnavailable("the record was written by others at the same time\nCall leave() again.");
  }

  /** Refuses while anyone else may take numbers of the folder. */
  async #checkSilent(client: ZooKeeperClient, scope: string, nowMs: number): Promise<void> {
    const { names } = (await this.session.children(client, this.folder)) ?? { names: [] };
    for (const name of names.filter((each) => !each.startsWith(nameOf(scope)))) {
      const address = name.replace(/-\d+$/, "");
      if (name.startsWith("frazil."))
        throw storeRefused(
          `${address} in ${this.folder} is of another scope, which takes its node ids from there\nTwo scopes that number by themselves would have the same.`,
        );
      const path = `${this.folder}/${name}`;
      const found = await this.session.get(client, path);
      if (found === undefined) continue;
      const lastMs = Math.max(endpointOf(path, found.text).timestamp, wide(found.stat.mtime));
      if (lastMs > nowMs - SILENT_MS) throw notSilent(address, lastMs, nowMs);
    }
  }

  /**
   * Replaces the znode of a Java server by one of this store, with a row that is free when everything that the server can have
   * minted is over. Invariant: the server has not written since its znode was read.
   */
  async adopt(scope: string, node: number, address: string): Promise<number | undefined> {
    const client = await this.session.client();
    const paths = pathsOf(this.prefix, scope);
    const java = `${this.folder}/${address}-${String(node).padStart(10, "0")}`;
    const [view, found] = await Promise.all([this.readView(client, paths), this.session.get(client, java)]);
    if (view === undefined) return undefined;
    const { nodeFrom, nodeTo } = view.scope;
    if (node === 0 || node < nodeFrom || node > nodeTo)
      throw configError("INVALID_ARGUMENT", "node", node, NUMBER_RULE);
    await this.#folder(client, paths);
    if (found === undefined || address.startsWith("frazil."))
      throw configError("INVALID_ARGUMENT", "address", address, ADDRESS_RULE);
    const { timestamp } = endpointOf(java, found.text);
    const { nowMs } = view.moment;
    const lastMs = Math.max(timestamp, wide(found.stat.mtime));
    if (lastMs > nowMs - SILENT_MS) throw notSilent(address, lastMs, nowMs);
    // A transaction cannot compare version 0: see `Session.all`.
    const { version } = found.stat;
    const written = version > 0 ? found.stat : await this.session.set(client, java, found.text, version);
    if (written === undefined) throw notSilent(address, nowMs, nowMs);
    const untilMs = nowMs + view.scope.windowMaxMs + FENCE_MARGIN_MS;
    const operations = [
      { remove: java, version: written.version },
      { create: this.#path(scope, node), text: textOf(scope, untilMs) },
      ...newRow(paths.leases, paths.ends, node, untilMs),
    ];
    const outcome = await this.session.all(client, operations, view.acl);
    if ("made" in outcome) return untilMs;
    if (outcome.at === 0) throw notSilent(address, nowMs, nowMs);
    throw storeRefused(`the number ${node} has a row of this store already, and a znode of a Java server: ${java}`);
  }
}

/** What a znode of Leaf says. */
function endpointOf(path: string, text: string): Endpoint {
  let endpoint: Partial<Endpoint> | undefined;
  try {
    endpoint = JSON.parse(text);
  } catch {
    endpoint = undefined;
  }
  if (!Number.isSafeInteger(endpoint?.timestamp))
    throw storeRefused(
      saidOf(`the znode ${path}`, "must have { ip, port, timestamp } of Leaf", JSON.stringify(text.slice(0, 200))),
    );
  return endpoint as Endpoint;
}

function notSilent(address: string, lastMs: number, nowMs: number): ConfigError {
  const rule = `must have been silent for ${SILENT_MS / 60_000} minutes\nIt wrote ${Math.round((nowMs - lastMs) / 1000)} s ago. Stop the server for good first.`;
  return configError("STATE_CONFLICT", "address", address, rule);
}

const OPTIONS = "leafName, prefix, acl, incarnation";

/** Leases beside the Java servers of Meituan Leaf, in the same ZooKeeper. */
export class LeafStore extends ZnodeStore {
  readonly #leaf: LeafTable;

  /**
   * Checks what it is given. It sends nothing. `client`: as for `ZooKeeperStore`.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for something that is no client; `INVALID_OPTION`.
   */
  constructor(client: ZooKeeperClient | (() => ZooKeeperClient | Promise<ZooKeeperClient>), options: LeafStoreOptions) {
    const table = new LeafTable(client, checkGiven(options, OPTIONS) as LeafStoreOptions);
    super("leaf", table);
    this.#leaf = table;
  }

  /**
   * Hands over the number of a Java server that is stopped for good: its znode becomes one of this store. Resolves to the time
   * from which it is granted, in Unix milliseconds.
   *
   * You promise that the server does not run, and that its file `workerID.properties` is gone: a server without ZooKeeper mints by
   * the number in that file. If it is started with ZooKeeper again, it gets another number.
   *
   * @throws {ConfigError} `STATE_CONFLICT` if the server wrote within the last five minutes; `INVALID_ARGUMENT`.
   * @throws {LeaseError} `STORE_NOT_INITIALISED`, `STORE_REFUSED`, `STORE_UNAVAILABLE`.
   */
  async adopt(options: AdoptOptions): Promise<number> {
    const {
      scope = "default",
      node,
      address,
    } = checkKeys("INVALID_ARGUMENT", "options", options, "scope, node, address");
    const name = scopeOf(scope);
    if (!Number.isInteger(node) || node < 0) throw configError("INVALID_ARGUMENT", "node", node, ADDRESS_RULE);
    if (typeof address !== "string" || !/^[^/\s-]+$/.test(address))
      throw configError("INVALID_ARGUMENT", "address", address, ADDRESS_RULE);
    const untilMs = await this.#leaf.adopt(name, node, address);
    if (untilMs === undefined) throw notInitialised(this, name, this.#leaf.placeOf(name));
    return untilMs;
  }

  /**
   * Ends the time of the move: the store numbers new node ids itself, beyond the largest number of Leaf's folder. Holders go on,
   * and nothing is read or written there any more. Call it when no Java server runs, and none can start. Numbers of Java servers
   * stay unused, unless `adopt` took them over before.
   *
   * @throws {ConfigError} `STATE_CONFLICT` if a Java server wrote within the last five minutes, or the scope numbers by itself.
   * @throws {LeaseError} `STORE_NOT_INITIALISED`, `STORE_REFUSED`, `STORE_UNAVAILABLE`.
   */
  async leave(options?: { readonly scope?: string }): Promise<void> {
    const scope = fencedScope(options);
    const hasLeft = await this.#leaf.leave(scope);
    if (hasLeft === undefined) throw notInitialised(this, scope, this.#leaf.placeOf(scope));
    if (!hasLeft) throw configError("STATE_CONFLICT", "scope", scope, LEFT_RULE);
  }
}
