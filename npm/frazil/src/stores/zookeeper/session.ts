/**
 * Calls of a ZooKeeper client as promises that always end. The client `node-zookeeper-client` by itself:
 *
 * - never calls back for what was queued when its session expired, nor while packets to its server are lost;
 * - sends what is called while it is disconnected when it is connected again, which may be minutes later, and before it has
 *   authenticated;
 * - is dead after its session expired, and then looks as if it were disconnected;
 * - waits without end for a server that has accepted its connection and does not answer. ZooKeeper 3.8.0 does so with connections
 *   that it accepts while it starts.
 */
import { monotonicClock } from "../../base/clock.js";
import { FrazilError, type LeaseError } from "../../base/errors.js";
import { fromOutside } from "../../base/outside-text.js";
import { untilAborted } from "../../base/wait.js";
import { clientError } from "../kit/argument-errors.js";
import { clientOf, hintFor } from "../kit/clients.js";
import { storeRefused, storeUnavailable } from "../kit/errors.js";

/** What a transaction of the client can do. */
export interface ZooKeeperTransaction {
  check(path: string, version: number): unknown;
  create(path: string, data: Uint8Array, acls: never, mode: number): unknown;
  setData(path: string, data: Uint8Array, version: number): unknown;
  remove(path: string, version: number): unknown;
  commit(callback: never): void;
}

/** Your client: of `node-zookeeper-client`. */
export interface ZooKeeperClient {
  getState(): { readonly code: number };
  create(path: string, data: Uint8Array, acls: never, mode: number, callback: never): void;
  setData(path: string, data: Uint8Array, version: number, callback: never): void;
  getData(path: string, callback: never): void;
  getChildren(path: string, callback: never): void;
  getACL(path: string, callback: never): void;
  exists(path: string, callback: never): void;
  transaction(): ZooKeeperTransaction;
  on(event: "expired" | "connected", listener: () => void): unknown;
  close(): void;
}

/** What the client reports of a znode. 64-bit numbers are 8 bytes, the most significant first. @internal */
export interface Stat {
  readonly version: number;
  readonly mtime: Uint8Array;
  readonly czxid: Uint8Array;
  readonly mzxid: Uint8Array;
  readonly cversion: number;
  readonly numChildren: number;
}

/** A znode as it was read. @internal */
export interface Znode {
  readonly text: string;
  readonly stat: Stat;
}

/** The ACL of a znode, as the client has it. Undefined: the default of the client, everything for everybody. @internal */
export type Acl = readonly unknown[] | undefined;

/** One operation of a transaction. A version is the znode's before; without one, any. @internal */
export type Operation =
  | { readonly check: string; readonly version: number }
  | { readonly set: string; readonly text: string; readonly version?: number }
  | { readonly create: string; readonly text: string; readonly isSequential?: boolean }
  | { readonly remove: string; readonly version?: number };

/** Why a transaction did nothing: the first operation that could not be done, and the code of ZooKeeper. @internal */
export interface Failure {
  readonly at: number;
  readonly code: number;
}

/** Codes of ZooKeeper (`KeeperException.Code`), as far as they differ in what to do. @internal */
export const Code = {
  CONNECTION_LOSS: -4,
  NO_NODE: -101,
  NO_AUTH: -102,
  BAD_VERSION: -103,
  NODE_EXISTS: -110,
  SESSION_EXPIRED: -112,
  INVALID_ACL: -114,
  AUTH_FAILED: -115,
  NOT_READ_ONLY: -119,
} as const;

/** States of a client (`Watcher.Event.KeeperState`). */
const CONNECTED = 3;
const CONNECTED_READ_ONLY = 5;
/** A znode that stays when its session ends, and one whose name ends in the next number of its folder. */
const PERSISTENT = 0;
const PERSISTENT_SEQUENTIAL = 2;

/** How long an operation waits for a session, and a call for its answer. A client that does not answer for so long is given up. */
const ANSWER_MS = 5000;
/** How long a client that can be replaced may be without a session: within the 3 s after which the driver asks again. */
const SESSION_MS = 2000;
/** How often a client that connects is looked at. */
const LOOK_MS = 10;

const CLIENT_RULE =
  "must be a client of node-zookeeper-client, or a function that returns one\nIt has getState(), getData(), setData() and " +
  "transaction(). The package zookeeper has no transactions.";
const METHODS = [
  "getState",
  "create",
  "setData",
  "getData",
  "getChildren",
  "getACL",
  "exists",
  "transaction",
  "on",
  "close",
];

const isClient = (value: unknown): value is ZooKeeperClient =>
  typeof value === "object" &&
  value !== null &&
  METHODS.every((name) => typeof (value as Record<string, unknown>)[name] === "function");

function givenClient(value: unknown): ZooKeeperClient {
  if (isClient(value)) return value;
  throw clientError(value, CLIENT_RULE + hintFor("zookeeper", value));
}

const READ_ONLY =
  "ZooKeeper is read-only: its server has lost the others of the ensemble\nNothing can be granted until the client has a session " +
  "with a server that has a quorum.";
const DEAD =
  "the session of the ZooKeeper client has ended, and the client never connects again\nMake another client and another store. Or " +
  "give the store a function that returns a connected client, and it makes one by itself.";

const SAME_CLIENT =
  "the function that makes a ZooKeeper client returned one that was given up, since its session ended or it did not answer\nIt must " +
  "make another client at each call. A client that other parts of the program use is passed by itself, without a function.";

const CLOSED = "close() was called on this store\nMake another one.";
// Without `connect()`, after `close()` and after an unobserved expiry it looks the same.
const noSession = (since = "") =>
  `the ZooKeeper client has no session${since}\nCheck its address, and that a server with a quorum runs there. It connects by itself if ` +
  "connect() was called, and not after close().";
const HIDDEN_ACL =
  "the ACL of the scope is hidden from the client, which lacks the permission a (admin) on its znodes\nNo znode can be made with " +
  "the same one. Pass the option acl that init() was given, or give the client that permission.";

const codeOf = (error: unknown): number | undefined => (error as { code?: number } | null)?.code;

/** The error for a call that failed in a way that no operation expects. */
function errorOf(error: unknown, path: string): LeaseError {
  switch (codeOf(error)) {
    case Code.NO_AUTH:
      return storeRefused(
        `ZooKeeper refuses access to ${path}: its ACL does not allow what the store does\nAuthenticate the client with addAuthInfo before ` +
          "it connects, or set the ACL with zkCli (setAcl). Every process needs the permissions cdrw.",
        error,
      );
    case Code.INVALID_ACL:
      return storeRefused(
        `ZooKeeper refuses the ACL for ${path}\nAn ACL of the scheme auth needs a client that has authenticated with addAuthInfo.`,
        error,
      );
    case Code.AUTH_FAILED:
      return storeRefused("ZooKeeper refuses the credentials of the client\nSee its addAuthInfo().", error);
    case Code.NOT_READ_ONLY:
      return storeRefused(READ_ONLY, error);
    case Code.NO_NODE:
      return storeRefused(
        `the znode ${path} or one above it is missing\nIf the address of the client has a chroot, create that znode first. If ${path} was there before, restore it and call fence().`,
        error,
      );
    default: {
      const { name, message } = error as Error & { name?: string };
      return storeUnavailable(
        `ZooKeeper answered no call on ${path}, and it is unknown whether it took place: ${name ?? ""} ${fromOutside(message)}`,
        error,
      );
    }
  }
}

/** An ACL that can be written. A client that may not administer a znode reads `x` instead of the hash of a password. */
function usable(acl: Acl): Acl {
  const isHidden = (given: unknown) => {
    const { scheme, id } = (given as { id?: { scheme?: unknown; id?: unknown } } | null)?.id ?? {};
    return scheme === "digest" && typeof id === "string" && id.endsWith(":x");
  };
  if (acl?.some(isHidden)) throw storeRefused(HIDDEN_ACL);
  return acl;
}

type Callback = (error: unknown, ...results: never[]) => void;

/** The result of work, unless the signal has aborted or aborts: then nothing is begun, and no call waits. @internal */
export async function startUnlessAborted<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  return untilAborted(work(), signal);
}

/** Clients that are closed, or will be. */
const givenUp = new WeakSet<ZooKeeperClient>();

/**
 * Closes a client, as soon as it has a session. A client that is closed while it connects takes the answer to its connection for one to a
 * call, and throws an exception that cannot be caught.
 */
function giveUp(client: ZooKeeperClient): void {
  if (givenUp.has(client)) return;
  givenUp.add(client);
  if (client.getState().code === CONNECTED) client.close();
  else client.on("connected", () => client.close());
}

/** What a function of the user resolves to, or a rejection after a while: it may wait for a connection that is never answered. */
async function inTime(made: unknown): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(storeUnavailable(`the function that makes a ZooKeeper client has not returned one for ${ANSWER_MS} ms`));
      // A client that comes after that is of no use.
      Promise.resolve(made).then(
        (client) => isClient(client) && giveUp(client),
        () => {},
      );
    }, ANSWER_MS);
  });
  try {
    return await Promise.race([made, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Clients whose end is listened to, once for all stores on them, and those whose session has ended or that do not answer. */
const watched = new WeakSet<ZooKeeperClient>();
const dead = new WeakSet<ZooKeeperClient>();

/** A client, or what makes one. @internal */
export class Session {
  readonly #make: (() => unknown) | undefined;
  #client: ZooKeeperClient | undefined;
  #making: Promise<ZooKeeperClient> | undefined;
  /** When the client was made. */
  #madeMs = Number.NEGATIVE_INFINITY;
  /** How old a client without a session must be to be given up: twice as old each time, since all of them go on connecting. */
  #patienceMs = SESSION_MS;
  /** The option: undefined for that of the record. */
  readonly #acl: Acl;
  #isClosed = false;

  constructor(given: unknown, acl: Acl) {
    this.#acl = acl;
    // Some clients of other stores are functions.
    if (typeof given === "function" && clientOf(given) === undefined) this.#make = given as () => unknown;
    else this.#watch(givenClient(given));
  }

  #watch(client: ZooKeeperClient): void {
    this.#client = client;
    if (watched.has(client)) return;
    watched.add(client);
    client.on("expired", () => dead.add(client));
  }

  /** A client with a session, or `STORE_UNAVAILABLE` after a while. One that gets none is given up, if another can be made. */
  async client(): Promise<ZooKeeperClient> {
    const started = monotonicClock();
    for (;;) {
      const client = await this.#living();
      const waited = monotonicClock();
      while (!dead.has(client)) {
        if (this.#isClosed) throw storeRefused(CLOSED);
        const { code } = client.getState();
        if (code === CONNECTED) {
          this.#patienceMs = SESSION_MS;
          return client;
        }
        if (code === CONNECTED_READ_ONLY) throw storeRefused(READ_ONLY);
        const now = monotonicClock();
        const isOld = now - waited > SESSION_MS && now - this.#madeMs > this.#patienceMs;
        if (this.#make !== undefined && isOld) {
          this.#patienceMs *= 2;
          dead.add(client);
        } else if (now - started > ANSWER_MS) throw storeUnavailable(noSession(` for ${ANSWER_MS} ms`));
        else await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    }
  }

  /** Why a call may be without an answer, as far as the client shows it. */
  waitsFor(): string | undefined {
    if (this.#making !== undefined) return "the function that makes a ZooKeeper client has not returned one yet";
    const client = this.#client;
    return client === undefined || client.getState().code === CONNECTED ? undefined : noSession();
  }

  /** Closes the client, if it is one of the function. Nothing is asked of ZooKeeper after that. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#make === undefined) return;
    try {
      await this.#making;
    } catch {
      // The operation that waits for the client reports it.
    }
    if (this.#client !== undefined) giveUp(this.#client);
  }

  #ended(): LeaseError {
    return this.#make === undefined
      ? storeRefused(DEAD)
      : storeUnavailable("the session of the ZooKeeper client has ended");
  }

  /** The client, or another one if it can be made and is needed. */
  async #living(): Promise<ZooKeeperClient> {
    if (this.#isClosed) throw storeRefused(CLOSED);
    const client = this.#client;
    if (client !== undefined && !dead.has(client)) return client;
    const make = this.#make;
    if (make === undefined) throw this.#ended();
    this.#making ??= (async () => {
      const made = givenClient(await inTime(make()));
      // It would be given up at once, and asked for again without end.
      if (dead.has(made)) throw storeRefused(SAME_CLIENT);
      if (client !== undefined) giveUp(client);
      this.#madeMs = monotonicClock();
      this.#watch(made);
      return made;
    })();
    try {
      return await this.#making;
    } catch (error) {
      throw FrazilError.is(error) ? error : storeUnavailable("no ZooKeeper client could be made", error);
    } finally {
      this.#making = undefined;
    }
  }

  /** Runs a call, to its callback or for a while. `undefined`: its code is one of `expected`. */
  async #call<T>(
    client: ZooKeeperClient,
    path: string,
    expected: readonly number[],
    start: (callback: never) => void,
    resultOf: (...results: never[]) => T,
  ): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        // A client that cannot be replaced may answer again.
        if (this.#make !== undefined) dead.add(client);
        reject(
          storeUnavailable(
            `ZooKeeper has not answered a call on ${path} for ${ANSWER_MS} ms, and it is unknown whether it took place`,
          ),
        );
      }, ANSWER_MS);
      const callback: Callback = (error, ...results) => {
        clearTimeout(timer);
        const code = codeOf(error);
        if (!error) resolve(resultOf(...results));
        else if (code !== undefined && expected.includes(code)) resolve(undefined);
        else {
          if (code === Code.SESSION_EXPIRED) dead.add(client);
          reject(errorOf(error, path));
        }
      };
      start(callback as never);
    });
  }

  /** Writes a znode. `undefined`: it is missing, or has another version. */
  set(client: ZooKeeperClient, path: string, text: string, version = -1): Promise<Stat | undefined> {
    const expected = [Code.NO_NODE, Code.BAD_VERSION];
    return this.#call(
      client,
      path,
      expected,
      (callback) => client.setData(path, Buffer.from(text), version, callback),
      (stat: Stat) => stat,
    );
  }

  /** Reads a znode. `undefined`: it is missing. */
  get(client: ZooKeeperClient, path: string): Promise<Znode | undefined> {
    return this.#call(
      client,
      path,
      [Code.NO_NODE],
      (callback) => client.getData(path, callback),
      (data: Buffer | undefined, stat: Stat) => ({ text: data?.toString() ?? "", stat }),
    );
  }

  /** The names of the znodes in a znode. `undefined`: it is missing. */
  children(client: ZooKeeperClient, path: string): Promise<{ names: readonly string[]; stat: Stat } | undefined> {
    return this.#call(
      client,
      path,
      [Code.NO_NODE],
      (callback) => client.getChildren(path, callback),
      (names: string[], stat: Stat) => ({ names, stat }),
    );
  }

  /** The stat of a znode. `undefined`: it is missing. */
  stat(client: ZooKeeperClient, path: string): Promise<Stat | undefined> {
    return this.#call(
      client,
      path,
      [Code.NO_NODE],
      (callback) => client.exists(path, callback),
      (stat: Stat | null) => stat ?? undefined,
    );
  }

  /** The ACL of what the store makes in a scope: the option, or that of the record. */
  async aclOf(client: ZooKeeperClient, record: string): Promise<Acl> {
    if (this.#acl !== undefined) return this.#acl;
    return this.#call(
      client,
      record,
      [Code.NO_NODE],
      (callback) => client.getACL(record, callback),
      (acl: readonly unknown[]) => acl,
    );
  }

  /** Makes a znode, unless it is there. */
  async make(client: ZooKeeperClient, path: string, text: string, acl: Acl = this.#acl): Promise<void> {
    if ((await this.stat(client, path)) !== undefined) return;
    await this.#call(
      client,
      path,
      [Code.NODE_EXISTS],
      (callback) => client.create(path, Buffer.from(text), usable(acl) as never, PERSISTENT, callback),
      () => true,
    );
  }

  /**
   * Does all operations or none. Resolves to what failed, or to the path of the last znode that was made.
   *
   * The client sends version 0 of a transaction as any version. So every znode that is compared has been written once after it
   * was made, and a lower version is refused here.
   */
  async all(
    client: ZooKeeperClient,
    operations: readonly Operation[],
    acl: Acl,
  ): Promise<Failure | { readonly made: string }> {
    const transaction = client.transaction();
    for (const operation of operations) {
      if ("version" in operation && !((operation.version as number) > 0))
        throw storeRefused(
          `the znode ${Object.values(operation)[0]} has the version ${operation.version}: it was made by hand\nWrite its text once more (set of zkCli).`,
        );
      if ("check" in operation) transaction.check(operation.check, operation.version);
      else if ("set" in operation)
        transaction.setData(operation.set, Buffer.from(operation.text), operation.version ?? -1);
      else if ("remove" in operation) transaction.remove(operation.remove, operation.version ?? -1);
      else {
        const mode = operation.isSequential ? PERSISTENT_SEQUENTIAL : PERSISTENT;
        transaction.create(operation.create, Buffer.from(operation.text), usable(acl) as never, mode);
      }
    }
    const first = Object.values(operations[0] as Operation)[0] as string;
    const outcome = await this.#call(
      client,
      first,
      [],
      (callback) =>
        // A transaction that fails calls back with an error and with the results, which say where.
        transaction.commit(((error: unknown, results?: { err?: number; path?: string }[]) => {
          const at = results?.findIndex(({ err }) => err !== undefined && err !== 0) ?? -1;
          if (error && at >= 0) (callback as Callback)(null, { at, code: results?.[at]?.err } as never);
          else (callback as Callback)(error, { made: results?.findLast(({ path }) => path)?.path } as never);
        }) as never),
      (result: unknown) => result,
    );
    const { at, code } = outcome as Failure;
    if (code === Code.NO_AUTH || code === Code.INVALID_ACL)
      throw errorOf({ code }, Object.values(operations[at] as Operation)[0] as string);
    return outcome as Failure | { readonly made: string };
  }
}
