/**
 * Leases and segments in Redis and Valkey: a record and its rows under one hash tag, a hash for each tag, written by Lua scripts
 * that are atomic by themselves.
 *
 * ```js
 * import { RedisStore } from "frazil/stores/redis";
 *
 * const store = new RedisStore(await createClient({ url }).connect());
 * await store.init({ layout: "default" }); // once for each scope, by hand or in a script of yours
 * ```
 *
 * - **One script and one round trip for each operation.** A script that is sent again after a lost answer finds its nonce. A server with
 *   replicas, or of a Cluster, confirms what it has granted in a second round trip.
 * - **The clock is the server's**, `TIME` inside the script.
 * - **Lost writes are fenced**: a restart and a failover are another incarnation (`run_id` and `master_replid`).
 * - **Nothing expires.** A scope without its record is refused, whatever else is there.
 *
 * A command that a client keeps while it is offline may run minutes later. By then the row has usually changed, and the command does
 * nothing. At worst it takes a free row for one window.
 *
 * Not checked, since no script can see it: how often the server flushes (`appendfsync`), and whether it saves at all.
 */
import { FrazilError, type LeaseError } from "../../base/errors.js";
import { untilAborted } from "../../base/wait.js";
import { type AnswerRow, answerOf, wholeOf } from "../kit/answer-rows.js";
import { clientError } from "../kit/argument-errors.js";
import { hintFor } from "../kit/clients.js";
import { messageOf, notInitialised, storeRefused, storeUnavailable } from "../kit/errors.js";
import { isNew } from "../kit/found-record.js";
import { checkAcquire, checkEnsure, checkRelease, checkRenew, fencedScope, recordOf } from "../kit/lease/requests.js";
import type { FenceCause } from "../kit/lease/rules.js";
import { allocateFrom, makeTagIn, type TagTable, type TagView } from "../kit/segment/tag-table.js";
import { withinLimit } from "../kit/set-up-limit.js";
import type {
  AcquireRequest,
  Answer,
  EnsureRequest,
  InitOptions,
  ManagedStore,
  RefusalReason,
  ReleaseRequest,
  RenewRequest,
} from "../lease-store.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../segment-store.js";
import { ACQUIRE, CONFIRM, ENSURE, INIT, keysOf, RELEASE, RENEW } from "./lease-scripts.js";
import { ACL_RULE, completion, type RedisStoreOptions } from "./options.js";
import { MAKE_TAG, READ_TAG, REPLACE_TAG, tagKey } from "./segment-scripts.js";

export type * from "../lease-store.js";
export type * from "../segment-store.js";
/** @internal */
export { redisDdl, redisFence } from "./ddl.js";
export type { RedisStoreOptions } from "./options.js";

/** A client that runs a script as Upstash's does. A function of your own makes one of every other client. */
export interface EvalClient {
  eval(script: string, keys: string[], args: string[]): PromiseLike<unknown>;
}

/** What `redis` makes: a client, a pool, a cluster or a sentinel. */
export interface NodeRedisClient {
  EVAL(...given: never[]): PromiseLike<unknown>;
  connect(...given: never[]): PromiseLike<unknown>;
}

/** What `ioredis` makes: a `Redis` or a `Cluster`. */
export interface IoRedisClient {
  defineCommand(...given: never[]): unknown;
  pipeline(...given: never[]): unknown;
}

/** Your client. The store neither opens nor closes it. */
export type RedisClient = EvalClient | NodeRedisClient | IoRedisClient;

const CLIENT_RULE =
  "must be a client, pool, cluster or sentinel of redis (5 or newer), a Redis or Cluster of ioredis, a Redis of @upstash/redis, or " +
  "{ eval(script, keys, args) } of your own\neval() must return what the script returns.";

/** Runs a script and returns its reply. */
type Eval = (script: string, keys: string[], args: string[]) => PromiseLike<unknown>;

/** The methods of clients whose `eval` takes what another kind of client would not understand. */
const MARKS = ["EVAL", "evalsha", "evalSha", "defineCommand", "sendCommand", "send_command", "send", "call", "exec"];

/** The call of a client that runs a script. Clients that queue commands for later, such as `multi()`, are refused. */
function evalOf(client: unknown): Eval {
  const given = (client ?? {}) as Record<string, unknown>;
  const has = (name: string) => typeof given[name] === "function";
  if (has("eval")) {
    const run = (...args: unknown[]) => (client as { eval(...args: unknown[]): PromiseLike<unknown> }).eval(...args);
    if (has("EVAL") && has("connect")) return (script, keys, args) => run(script, { keys, arguments: args });
    if (has("defineCommand") && has("pipeline"))
      return (script, keys, args) => run(script, keys.length, ...keys, ...args);
    if (has("createScript") || !MARKS.some(has)) return (script, keys, args) => run(script, keys, args);
  }
  const rule = CLIENT_RULE + hintFor("redis", client);
  throw clientError(client, rule);
}

/** Leases under the keys `frazil:{scope}:…`. */
export class RedisStore implements ManagedStore, ManagedSegmentStore {
  readonly name = "redis";
  readonly #client: RedisClient;
  readonly #eval: Eval;
  readonly #complete: (script: string) => string;

  /**
   * Checks what it is given. It runs no command.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for a client whose `eval` is not known; `INVALID_OPTION`.
   */
  constructor(client: RedisClient, options: RedisStoreOptions = {}) {
    this.#eval = evalOf(client);
    this.#client = client;
    this.#complete = completion(options);
  }

  waitsFor(): string | undefined {
    // `status` of ioredis, `isReady` of redis. Both keep commands while they have no connection.
    const { status, isReady } = this.#client as { status?: unknown; isReady?: unknown };
    const isConnected = typeof status === "string" ? status === "ready" : isReady !== false;
    const state = typeof status === "string" ? ` (status ${JSON.stringify(status)})` : "";
    return isConnected
      ? undefined
      : `the client of Redis has no connection${state}\nCheck its address, and that the server runs. Its event "error" says why.`;
  }

  async acquire(request: AcquireRequest): Promise<Answer> {
    checkAcquire(request);
    const { scope, layout, windowMs, grant, nonce, owner, node, signal } = request;
    const given = [layout, windowMs, grant, nonce, owner, node ?? ""];
    return answerIn(await this.#runConfirmed(ACQUIRE, keysOf(scope), given, signal), grant);
  }

  async renew(request: RenewRequest): Promise<Answer> {
    checkRenew(request);
    const { scope, layout, windowMs, grant, nonce, node, untilMs, signal } = request;
    const given = [layout, windowMs, grant, nonce, node, untilMs];
    return answerIn(await this.#runConfirmed(RENEW, keysOf(scope), given, signal), grant);
  }

  async release(request: ReleaseRequest): Promise<boolean> {
    checkRelease(request);
    const { scope, grant, node, untilMs, heldUntilMs, signal } = request;
    const [outcome] = await this.#run(RELEASE, keysOf(scope), [grant, node, untilMs, heldUntilMs], signal);
    return outcome === "released";
  }

  async ensure(request: EnsureRequest): Promise<void> {
    checkEnsure(request);
    await this.#raise(request.scope, request.behind ? "behind" : "changed", request.signal);
  }

  async init(options: InitOptions): Promise<boolean> {
    const record = recordOf(options);
    const { scope, layout, nodeFrom, nodeTo, windowMaxMs } = record;
    const given = [layout, nodeFrom, nodeTo, windowMaxMs];
    const [outcome, present, from, to] = await withinLimit(this, "init()", (signal) =>
      this.#run(INIT, keysOf(scope), given, signal),
    );
    if (outcome === "made") return true;
    if (present === undefined) return isNew(record, "rows");
    return isNew(record, { layout: present, nodeFrom: wholeOf("node_from", from), nodeTo: wholeOf("node_to", to) });
  }

  async fence(options?: { readonly scope?: string }): Promise<number> {
    const scope = fencedScope(options);
    return withinLimit(this, "fence()", (signal) => this.#raise(scope, "always", signal));
  }

  async #raise(scope: string, cause: FenceCause, signal?: AbortSignal): Promise<number> {
    const [outcome, fenceMs] = await this.#run(ENSURE, keysOf(scope), [cause], signal);
    if (outcome === "missing") throw notInitialised(this, scope, placeOf(fenceMs));
    return wholeOf("fence_ms", fenceMs);
  }

  async allocate(request: AllocateRequest): Promise<Allocation> {
    return allocateFrom(this, this.#tags, request);
  }

  async initSegment(options: TagOptions): Promise<boolean> {
    return makeTagIn(this, this.#tags, options);
  }

  readonly #tags: TagTable = {
    readTag: async (tag, signal) => {
      const [outcome, ...texts] = await this.#run(READ_TAG, [tagKey(tag)], [], signal);
      return outcome === "missing" ? undefined : viewIn(texts, this.#keyOf(tag));
    },
    replaceTag: async (tag, seen, written, signal) => {
      const [outcome, ...texts] = await this.#run(REPLACE_TAG, [tagKey(tag)], [...written, ...seen], signal);
      if (outcome === "replaced") return true;
      return outcome === "missing" ? undefined : viewIn(texts, this.#keyOf(tag));
    },
    makeTag: async (tag, first, signal) => {
      const [outcome] = await this.#run(MAKE_TAG, [tagKey(tag)], [`${first}`], signal);
      return outcome === "made";
    },
    placeOfTags: async (_, tag) => placeOf(this.#keyOf(tag)),
  };

  /** The key of a tag as the server has it, with the `keyPrefix` of ioredis. */
  #keyOf(tag: string): string {
    const { keyPrefix } = ((this.#client as { options?: unknown }).options ?? {}) as { keyPrefix?: unknown };
    return `${typeof keyPrefix === "string" ? keyPrefix : ""}${tagKey(tag)}`;
  }

  /** Runs a script that may grant, and has the server confirm what it granted, if another one may have taken its place. */
  async #runConfirmed(
    script: string,
    keys: readonly string[],
    given: readonly (string | number)[],
    signal: AbortSignal | undefined,
  ): Promise<readonly string[]> {
    const reply = await this.#run(script, keys, given, signal);
    const [outcome, , , , , incarnation] = reply;
    if (outcome !== "granted" || !incarnation) return reply;
    const [, present] = await this.#run(CONFIRM, keys, [], signal);
    if (present !== incarnation)
      throw storeUnavailable(
        "replicas came or left while a lease was granted, or another server has become the primary",
      );
    return reply;
  }

  /** Runs a script on keys. Returns its reply: what came of it, and then the values, all as text. */
  async #run(
    script: string,
    keys: readonly string[],
    given: readonly (string | number)[],
    signal?: AbortSignal,
  ): Promise<readonly string[]> {
    signal?.throwIfAborted();
    let reply: unknown;
    try {
      const values = given.map(String);
      reply = await untilAborted((async () => this.#eval(this.#complete(script), [...keys], values))(), signal);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (FrazilError.is(error)) throw error;
      throw errorOf(error);
    }
    // Buffers, numbers and bigints of clients that convert replies have the same text.
    if (!Array.isArray(reply) || reply.length === 0)
      throw storeRefused(
        "the client returned no array of texts\nPass a client that returns replies as Redis sends them.",
      );
    const texts = reply.map(String);
    checkSetUp(texts);
    return texts;
  }
}

/** `key`: as the server has it, with the `keyPrefix` of the client. */
const placeOf = (key: string | undefined): string =>
  `the key ${key} of the database that the client selects (its option db)`;

/** The answer in a reply of `ACQUIRE` or `RENEW`. */
function answerIn([outcome, now, ...values]: readonly string[], grant: string): Answer {
  if (outcome === "missing") return { granted: false, reason: outcome, place: placeOf(now) };
  const isLease = outcome === "granted";
  const [first = null, second = null, third = null] = values;
  const row: AnswerRow = {
    reason: isLease ? null : (outcome as RefusalReason),
    now_ms: now ?? null,
    node: isLease ? first : null,
    from_ms: isLease ? second : null,
    until_ms: isLease ? third : null,
    free_at_ms: isLease || !first ? null : first,
    window_max_ms: isLease ? null : second,
    layout: isLease ? null : third,
  };
  return answerOf(row, grant);
}

/** The record in a reply. */
function viewIn(texts: readonly string[], key: string): TagView {
  const [next, written, recent, incarnation] = texts.map((text) => text.slice(1)) as [string, string, string, string];
  return { kept: [next, written, recent], incarnation, place: { place: `the key ${key}`, counter: "next" } };
}

const OWN_INCARNATION =
  'the option incarnation: { lua: "…" } with an expression whose value changes when acknowledged writes may have been lost';

/** Throws if a script has found that the server may not grant anything. */
function checkSetUp([outcome, value, key]: readonly string[]): void {
  switch (outcome) {
    case "replica":
      throw storeRefused("this is a replica (role:slave in INFO replication)\nConnect to the primary.");
    case "unguarded":
      throw storeRefused(
        `connected_slaves is ${value} and min-replicas-to-write is 0\nAn old primary would go on handing out beside the promoted one. ` +
          `Run CONFIG SET min-replicas-to-write ${Math.ceil(Number(value) / 2)}, half of the replicas, on the primary and on each replica, and write it to their redis.conf.`,
      );
    case "lagging":
      throw storeUnavailable(
        `a replica has not answered for ${value} s, and may have been promoted\nNothing is handed out until it answers, or is disconnected while min-replicas-to-write others follow.`,
      );
    case "alone":
      throw storeUnavailable(
        "fewer replicas follow than min-replicas-to-write (min_slaves_good_slaves is 0)\nRedis takes no writes until they do.",
      );
    case "evicting":
      throw storeRefused(
        `maxmemory-policy is ${value}, with which the server deletes keys when its memory is full\n` +
          "Leases and counters must not be on such a server. Run CONFIG SET maxmemory-policy noeviction, and write it to redis.conf.",
      );
    case "expiring":
      throw storeRefused(
        `the key ${key} expires in ${value} s, and a record that is made again repeats numbers\nRun PERSIST ${key}, and find out what has set its time to live.`,
      );
    case "anonymous":
      throw storeRefused(
        `this server cannot say which incarnation it is (no run_id or master_replid in INFO, or an expression that is no text)\nPass ${OWN_INCARNATION}.`,
      );
  }
}

/** The code of an error reply, such as `READONLY`, or "". In a script, Redis 6 has it behind its own. */
function codeOf(message: string): string {
  const [, code = ""] = /^-?([A-Z][A-Z0-9]+)(?: |$)/.exec(message) ?? [];
  if (code !== "ERR") return code;
  return /: -([A-Z][A-Z0-9]+) /.exec(message)?.[1] ?? code;
}

/** The error for a failure of the client, which stays its cause. */
function errorOf(error: unknown): LeaseError {
  const message = messageOf(error);
  const code = codeOf(message);
  if (code === "")
    return storeUnavailable(
      `Redis did not answer: ${message.replace(/\.$/, "")}\nWas the client ever connected? Call await client.connect() first.`,
      error,
    );
  const reported = `Redis answered ${message}`;
  if (code === "NOPERM" || /user .*can't run this command|has no permissions/.test(message))
    return storeRefused(
      `${reported}\nThe user lacks a right: ACL SETUSER your_user ${ACL_RULE}. If scripts may not call INFO at all, pass ${OWN_INCARNATION}.`,
      error,
    );
  if (code === "READONLY") return storeRefused(`${reported}\nThis is a replica. Connect to the primary.`, error);
  if (code === "NOAUTH" || code === "WRONGPASS")
    return storeRefused(`${reported}\nGive the client the user and the password.`, error);
  // Scripts that cannot run here, keys of another type, a server that listens on loopback only.
  if (["ERR", "WRONGTYPE", "DENIED", "CROSSSLOT"].includes(code)) return storeRefused(reported, error);
  return storeUnavailable(reported, error);
}
