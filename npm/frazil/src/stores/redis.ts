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
 * - **The clock is that of the server**, `TIME` inside the script.
 * - **Lost writes are fenced**: a restart and a failover are another incarnation (`run_id` and `master_replid`).
 * - **Nothing expires.** A scope without its record is refused, whatever else is there.
 *
 * A command that a client keeps while it is offline may run minutes later. It then finds another nonce, another grant or a later
 * window, and changes nothing, or a row that nobody else wanted, which it takes for one window.
 *
 * Not checked, since no script can see it: how often the server flushes (`appendfsync`), and whether it saves at all.
 */
import { FrazilError, type LeaseError } from "../errors.js";
import {
  type AnswerRow,
  answerOf,
  isNew,
  notInitialised,
  storeRefused,
  storeUnavailable,
  untilAborted,
  wholeOf,
} from "./answers.js";
import { hintFor } from "./clients.js";
import { checkGiven, clientError, optionError } from "./given.js";
import { checkAcquire, checkEnsure, checkRelease, checkRenew, fencedScope, recordOf } from "./requests.js";
import { type FenceCause, REACH } from "./rules.js";
import { type DdlTags, printedTags } from "./segment-requests.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "./segment-store.js";
import { withinLimit } from "./set-up-limit.js";
import {
  type AcquireRequest,
  type Answer,
  type EnsureRequest,
  FENCE_MARGIN_MS,
  type InitOptions,
  type ManagedStore,
  type RefusalReason,
  type ReleaseRequest,
  type RenewRequest,
} from "./store.js";
import { allocateFrom, makeTagIn, type TagTable, type TagView } from "./tag-table.js";

export type * from "./segment-store.js";
export type * from "./store.js";

/**
 * The keys of a scope. The hash tag puts them on one node of a Cluster.
 *
 * - `scope`, a hash: the record.
 * - `rows`, a hash: node id -> `from until grant nonce owner`, with `-` for no grant. What holds.
 * - `ends`, a sorted set: node id by `until`. An index of `rows`.
 * - `grants`, a hash: grant -> node id. An index of `rows`.
 *
 * Node ids have ten digits, so that those with equal ends come in their order.
 */
const KEYS = ["scope", "rows", "ends", "grants"] as const;
const keysOf = (scope: string): string[] => KEYS.map((key) => `frazil:{${scope}}:${key}`);

/**
 * The server's clock in Unix milliseconds, which is read once. Numbers are written with `%.0f`: `tostring` keeps 14 digits.
 * Scripts have no single quotes, so that a shell takes them as they are.
 */
const CLOCK = `local scope, rows, ends, grants = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function whole(number) return string.format("%.0f", number) end
`;

/**
 * How long ago each replica may have answered, in whole seconds: a replica answers each second. One that did not may have been
 * promoted, and its fence lasts for 5 seconds longer than the windows that are granted here at that moment.
 */
const MAX_LAG_S = 2;

/**
 * The incarnation of a server, and whether it may grant at all. `run_id` changes when the server starts, since a start may lack
 * the last writes. `master_replid` changes when it is promoted: a primary that was demoted and is promoted again has the
 * `run_id` of before, and the data of the primary in between.
 */
const SERVER = `local function fact(info, name) return string.match(info, "\\n" .. name .. ":([^\\r\\n]*)") end
local server, replication = redis.call("INFO", "server"), redis.call("INFO", "replication")
if fact(replication, "role") == "slave" then return {"replica"} end
local replicas, good = fact(replication, "connected_slaves"), fact(replication, "min_slaves_good_slaves")
if good == "0" then return {"alone"} end
local mode = fact(server, "redis_mode") or fact(server, "server_mode")
if not good and (tonumber(replicas) or 0) > 0 and mode ~= "cluster" then return {"unguarded", replicas} end
for lag in string.gmatch(good and replication or "", "\\nslave%d+:[^\\r\\n]*state=online[^\\r\\n]*,lag=(%d+)") do
  if tonumber(lag) > ${MAX_LAG_S} then return {"lagging", lag} end
end
local run, history = fact(server, "run_id"), fact(replication, "master_replid")
if not run or not history then return {"anonymous"} end
local incarnation = run .. "/" .. history
local confirmed = ""
if (tonumber(replicas) or 0) > 0 then confirmed = incarnation
elseif mode == "cluster" then confirmed = incarnation .. "/alone" end
`;

/**
 * Whether the server that granted something may still grant. A primary that stood still, as a paused machine does, reads what came
 * meanwhile in turn: first what its replicas wrote, so that they seem to be there, then requests, and then that its replicas have left
 * it for another primary. It has read all of that before a request arrives that was sent after its first answer. In a Cluster without
 * `min-replicas-to-write`, all that it shows is that it has no replica any more. A request that it reads after that, as one of many that
 * wait on a connection, is granted as by a primary that never had a replica. So in a Cluster such a one is asked again too: by then the
 * others have told it that its slots are not its own.
 */
const CONFIRM = `{incarnation}return {"primary", confirmed}`;

/** Whether the server may remove the keys of a scope. Not read by renewals: it costs as much as the rest of the script. */
const EVICTION = `local policy = fact(redis.call("INFO", "memory"), "maxmemory_policy")
if policy and policy ~= "noeviction" then return {"evicting", policy} end
`;

/** The incarnation by an expression of the user. */
const EXPRESSION = `local incarnation = ({lua})
if type(incarnation) ~= "string" then return {"anonymous"} end
local confirmed = ""
`;

/** The record of the scope. */
const RECORD = `local found = redis.call("HMGET", scope, "layout", "node_to", "next_node", "window_max_ms", "fence_ms", "incarnation")
if not found[1] then return {"missing", scope} end
local layout, last, next = found[1], tonumber(found[2]), tonumber(found[3])
local longest, fence, written = tonumber(found[4]), tonumber(found[5]), found[6]
local function refuse(reason, free) return {reason, whole(now), free or "", whole(longest), layout} end
`;

/** Why a holder of the layout ARGV[1] who asks for a window of ARGV[2] ms may have none, whatever the rows are. */
const ALLOWED = `if layout ~= ARGV[1] then return refuse("layout") end
if longest < tonumber(ARGV[2]) then return refuse("window") end
if written ~= incarnation then return refuse("incarnation") end
`;

/** The rows. A row is written before its index, so that what an error leaves half done is a node id that is taken. */
const ROWS = `local function id(node) return string.format("%010.0f", node) end
local function row(node)
  local text = redis.call("HGET", rows, node)
  if not text then return nil end
  local from, till, grant, nonce, owner = string.match(text, "^(%d+) (%d+) (%S+) (%S+) (.*)$")
  return {node = node, from = tonumber(from), till = tonumber(till), grant = grant, nonce = nonce, owner = owner}
end
local function write(row)
  local text = table.concat({whole(row.from), whole(row.till), row.grant, row.nonce, row.owner}, " ")
  redis.call("HSET", rows, row.node, text)
  redis.call("ZADD", ends, whole(row.till), row.node)
end
local function lease(row)
  return {"granted", whole(now), whole(tonumber(row.node)), whole(row.from), whole(row.till), confirmed}
end
`;

/**
 * `acquire`. Invariant: a node id is granted from the largest `until` that it ever had, and never before, nor before the fence.
 * Clock: the server's, read once.
 *
 * A row that has the grant with another nonce was renewed since: a clone that repeats its `acquire` is refused. The index of ends
 * is not believed: an entry whose row is gone or has another end is put right, and the next one is looked at. Rows are made from
 * the mark on, up to a preferred node id; a row that is there already stays.
 *
 * ARGV: layout, window, grant, nonce, owner, preferred node id or "".
 */
const ACQUIRE = `${CLOCK}{incarnation}{eviction}${RECORD}${ROWS}
local grant, nonce, owner, preferred = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local mine = redis.call("HGET", grants, grant)
mine = mine and row(mine)
if mine and mine.grant == grant then
  if mine.nonce ~= nonce then return refuse("taken") end
  return lease(mine)
end
${ALLOWED}
local function oldest()
  while true do
    local first = redis.call("ZRANGE", ends, 0, 0, "WITHSCORES")
    if not first[1] then return nil end
    local found = row(first[1])
    if found and found.till == tonumber(first[2]) then return found end
    if found then
      redis.call("ZADD", ends, whole(found.till), found.node)
    else
      redis.call("ZREM", ends, first[1])
    end
  end
end
local free
if fence <= now then
  local wanted = preferred and preferred >= next and preferred <= math.min(last, next + ${REACH - 1}) and preferred
  if not wanted then
    free = preferred and row(id(preferred))
    if not free or free.till > now then free = oldest() end
    if free and free.till > now then free = nil end
  end
  local newest = wanted or next
  if not free and newest <= last then
    for node = next, newest do
      if redis.call("HSETNX", rows, id(node), "0 0 - - ") == 1 then redis.call("ZADD", ends, 0, id(node)) end
    end
    next = newest + 1
    redis.call("HSET", scope, "next_node", whole(next))
    free = row(id(newest))
    if free.till > now then free = nil end
  end
end
if free then
  local previous = free.grant
  free.from, free.till = math.max(free.till, fence), now + tonumber(ARGV[2])
  free.grant, free.nonce, free.owner = grant, nonce, owner
  write(free)
  redis.call("HDEL", grants, previous)
  redis.call("HSET", grants, grant, free.node)
  return lease(free)
end
local unfenced = 0
if next > last then
  local first = oldest()
  unfenced = first and first.till or 0
end
local reason = fence > now and unfenced <= now and "fenced" or "exhausted"
return refuse(reason, whole(math.max(now, unfenced, fence)))`;

/**
 * `renew`. Invariant: a compare-and-set on `until`, which only moves forward; of two holders that know the grant, one finds a nonce
 * that it does not know. Clock: the server's, read once.
 *
 * ARGV: layout, window, grant, nonce, node id, the end of the window that the holder knows.
 */
const RENEW = `${CLOCK}{incarnation}${RECORD}${ROWS}${ALLOWED}
local window, nonce, known = tonumber(ARGV[2]), ARGV[4], tonumber(ARGV[6])
local held = row(id(tonumber(ARGV[5])))
if (not held or held.till < known) and fence < now + longest then return refuse("behind") end
if known + longest <= fence then return refuse("fenced") end
if not held or held.grant ~= ARGV[3] or (held.till > known and held.nonce ~= nonce) then return refuse("taken") end
held.till, held.nonce = math.max(held.till, known, now + window), nonce
write(held)
return lease(held)`;

/**
 * `release`. Invariant: `until` covers every ID that was minted, since the holder closed before; without the grant, a late renewal
 * fails; a row that a clone of the holder has renewed stays. No clock.
 *
 * ARGV: grant, node id, from when it is free, the end of the window that the holder knows.
 */
const RELEASE = `${CLOCK}${ROWS}
local held = row(id(tonumber(ARGV[2])))
if not held or held.grant ~= ARGV[1] or held.till > tonumber(ARGV[4]) then return {"kept"} end
held.till, held.grant, held.owner = math.max(held.from, tonumber(ARGV[3])), "-", ""
write(held)
redis.call("HDEL", grants, ARGV[1])
return {"released"}`;

/**
 * `ensure` and `fence`. Invariant: the fence only grows, and lies beyond every window that the rows may have lost. Clock: the
 * server's, read once.
 *
 * ARGV: when to raise the fence besides for another incarnation: `behind` if it does not cover the longest window, `always`, or
 * `changed`.
 */
const ENSURE = `${CLOCK}{incarnation}{eviction}${RECORD}
local behind = ARGV[1] == "behind" and fence < now + longest
if written ~= incarnation or behind or ARGV[1] == "always" then
  fence = math.max(fence, now + longest + ${FENCE_MARGIN_MS})
  redis.call("HSET", scope, "fence_ms", whole(fence), "incarnation", incarnation)
end
return {"fence", whole(fence)}`;

/**
 * `init`. Invariant: a record is written once, and never for a scope whose rows are still there. No clock: the fence is 0.
 *
 * ARGV: layout, the first and the last node id, the longest window.
 */
const INIT = `${CLOCK}{incarnation}{eviction}
local layout = redis.call("HGET", scope, "layout")
if layout then return {"initialised", layout, redis.call("HGET", scope, "node_from"), redis.call("HGET", scope, "node_to")} end
if redis.call("EXISTS", rows, ends, grants) > 0 then return {"initialised"} end
redis.call("HSET", scope, "layout", ARGV[1], "node_from", ARGV[2], "node_to", ARGV[3], "next_node", ARGV[2],
  "window_max_ms", ARGV[4], "fence_ms", "0", "incarnation", incarnation)
return {"made"}`;

/** What the user of a program must be allowed. `@connection` is for the client itself, and `exists` for `init`. */
const ACL_RULE =
  "~frazil:* -@all +@connection -@dangerous +eval +info +time +hget +hmget +hset +hsetnx +hdel +zadd +zrem +zrange +exists +ttl";

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

/** The options of a `RedisStore`. */
export interface RedisStoreOptions {
  /**
   * How a server is told from the one that replaced it after a failover or a restart.
   *
   * - `"redis"` (default): `run_id` and `master_replid` of `INFO`. The store then also refuses a server whose settings lose
   *   leases: a replica, an eviction policy other than `noeviction`, replicas without `min-replicas-to-write`.
   * - `{ lua }`: a Lua expression of your own, a string that changes whenever acknowledged writes may have been lost. No setting
   *   of the server is looked at.
   * - `"none-accepting-repeats-after-failover"`: not at all. If a server goes on without the last writes, IDs repeat. No setting
   *   of the server is looked at.
   */
  readonly incarnation?: "redis" | { readonly lua: string } | "none-accepting-repeats-after-failover";
}

const CLIENT_RULE =
  "must be a client, pool, cluster or sentinel of redis (5 or newer), a Redis or Cluster of ioredis, a Redis of @upstash/redis, or " +
  "{ eval(script, keys, args) } of your own, which returns what the script returns";
const INCARNATION_RULE = 'must be "redis", { lua } with a Lua expression, or "none-accepting-repeats-after-failover"';

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
      : `the client of Redis has no connection${state}. Check its address, and that the server runs; its event "error" says why`;
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
        "the client returned no array of texts: pass a client that returns replies as Redis sends them",
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

/** The record of a tag: a hash with `next`, `recent` and `incarnation`, under one key of its own. */
const tagKey = (tag: string): string => `frazil:segment:${tag}`;

/**
 * The record of a tag, in the order of `KeptRecord`, which must not expire. A reply with it has a mark before each text, since a
 * REST client turns those that look like JSON into values.
 */
const TAG_RECORD = `local found = redis.call("HMGET", KEYS[1], "next", "incarnation", "recent")
if not found[1] then return {"missing"} end
local left = redis.call("TTL", KEYS[1])
if left >= 0 then return {"expiring", tostring(left), KEYS[1]} end
local next, written, recent = found[1], found[2] or "", found[3] or ""
local function record(outcome) return {outcome, "=" .. next, "=" .. written, "=" .. recent, "=" .. incarnation} end
`;

/** The record in a reply. */
function viewIn(texts: readonly string[], key: string): TagView {
  const [next, written, recent, incarnation] = texts.map((text) => text.slice(1)) as [string, string, string, string];
  return { kept: [next, written, recent], incarnation, place: { place: `the key ${key}`, counter: "next" } };
}

/** Reads the record of a tag. */
const READ_TAG = `{incarnation}{eviction}${TAG_RECORD}return record("tag")`;

/**
 * `allocate`. Invariant: the record is replaced only as it was read, and only by the server that it was decided for
 * (`TagTable.replaceTag` has the reason).
 *
 * ARGV: next, incarnation and recent to write; the same as they were read.
 */
const REPLACE_TAG = `{incarnation}{eviction}${TAG_RECORD}local same = next == ARGV[4] and written == ARGV[5] and recent == ARGV[6]
if not same or incarnation ~= ARGV[2] then return record("changed") end
redis.call("HSET", KEYS[1], "next", ARGV[1], "incarnation", ARGV[2], "recent", ARGV[3])
return {"replaced"}`;

/** `initSegment`. A record that is there stays. ARGV: the first number. */
const MAKE_TAG = `{incarnation}{eviction}if redis.call("HSETNX", KEYS[1], "next", ARGV[1]) == 0 then return {"present"} end
redis.call("HSET", KEYS[1], "recent", "[]", "incarnation", incarnation)
return {"made"}`;

const OWN_INCARNATION =
  'the option incarnation: { lua: "…" } with an expression whose value changes when acknowledged writes may have been lost';

/** Throws if a script has found that the server may not grant anything. */
function checkSetUp([outcome, value, key]: readonly string[]): void {
  switch (outcome) {
    case "replica":
      throw storeRefused("this is a replica (role:slave in INFO replication). Connect to the primary");
    case "unguarded":
      throw storeRefused(
        `connected_slaves is ${value} and min-replicas-to-write is 0: an old primary would go on handing out beside the promoted one. ` +
          `Run CONFIG SET min-replicas-to-write ${Math.ceil(Number(value) / 2)}, half of the replicas, on the primary and on each replica, and write it to their redis.conf`,
      );
    case "lagging":
      throw storeUnavailable(
        `a replica has not answered for ${value} s, and may have been promoted. Nothing is handed out until it answers, or is disconnected while min-replicas-to-write others follow`,
      );
    case "alone":
      throw storeUnavailable(
        "min_slaves_good_slaves is 0: fewer replicas than min-replicas-to-write follow, and Redis takes no writes until they do",
      );
    case "evicting":
      throw storeRefused(
        `maxmemory-policy is ${value}: leases and counters must not be on a server that deletes keys when its memory is full. ` +
          "Run CONFIG SET maxmemory-policy noeviction, and write it to redis.conf",
      );
    case "expiring":
      throw storeRefused(
        `the key ${key} expires in ${value} s, and a record that is made again repeats numbers. Run PERSIST ${key}, and find out what has set its time to live`,
      );
    case "anonymous":
      throw storeRefused(
        `this server cannot say which incarnation it is (no run_id or master_replid in INFO, or an expression that is no text). Pass ${OWN_INCARNATION}`,
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
  const message = error instanceof Error ? error.message : String(error);
  const code = codeOf(message);
  if (code === "")
    return storeUnavailable(
      `Redis did not answer: ${message.replace(/\.$/, "")}. A client that was never connected says the same: await client.connect()`,
      error,
    );
  const reported = `Redis answered ${message}`;
  if (code === "NOPERM" || /user .*can't run this command|has no permissions/.test(message))
    return storeRefused(
      `${reported}: the user lacks a right. ACL SETUSER your_user ${ACL_RULE}. If scripts may not call INFO at all, pass ${OWN_INCARNATION}`,
      error,
    );
  if (code === "READONLY") return storeRefused(`${reported}: this is a replica. Connect to the primary`, error);
  if (code === "NOAUTH" || code === "WRONGPASS")
    return storeRefused(`${reported}: give the client the user and the password`, error);
  // Scripts that cannot run here, keys of another type, a server that listens on loopback only.
  if (["ERR", "WRONGTYPE", "DENIED", "CROSSSLOT"].includes(code)) return storeRefused(reported, error);
  return storeUnavailable(reported, error);
}

/** Puts the incarnation into a script. */
function completion(options: RedisStoreOptions): (script: string) => string {
  const { incarnation = "redis" } = checkGiven(options, "incarnation") as RedisStoreOptions;
  let lua: unknown;
  if (incarnation === "none-accepting-repeats-after-failover") lua = '""';
  else if (incarnation !== "redis") lua = (incarnation as { lua?: unknown } | null)?.lua;
  if (incarnation !== "redis" && (typeof lua !== "string" || lua.trim() === ""))
    throw optionError("incarnation", incarnation, INCARNATION_RULE);
  const parts: Record<string, string> =
    lua === undefined
      ? { incarnation: SERVER, eviction: EVICTION }
      : { incarnation: EXPRESSION.replace("{lua}", () => lua as string), eviction: "" };
  return (script) => script.replace(/\{(incarnation|eviction)\}/g, (_, part: string) => parts[part] as string);
}

/** The server of `$REDIS_URL` if there is one, else that of this host. */
const CLI = `redis-cli \${REDIS_URL:+-u "$REDIS_URL"}`;

/** A text as one word of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const NOT_WRITTEN = "frazil: the record was not written. If the scope has a record or rows, leave them as they are.";

/**
 * What an administrator sets up and what `init` or `initSegment` does, for people to read and run: a script of a shell.
 *
 * @internal
 */
export function redisDdl(options: InitOptions | DdlTags, store: RedisStoreOptions): string {
  const complete = completion(store);
  return `# It is written to the server in $REDIS_URL, or else to that of this host.
# Settings of redis.conf. A restart without its last writes is fenced; one without any writes needs a person.
#   appendonly yes
#   appendfsync always              # everysec is fenced too: new holders wait after each restart, as they do with always
#   maxmemory-policy noeviction
#   min-replicas-to-write 1         # if there are replicas: half of them, on the primary and on each replica
#
# The rights of the user that your program connects as.
#   ACL SETUSER your_user on '>password' ${ACL_RULE}
#
${"tags" in options ? tagRecords(options, complete) : scopeRecord(options, complete)}`;
}

/**
 * What `fence` does, for people to read and run: a script of a shell.
 *
 * @internal
 */
export function redisFence(name: string, store: RedisStoreOptions): string {
  const scope = fencedScope({ scope: name });
  const words = keysOf(scope).map(quoted).join(" ");
  const failed = quoted(
    `frazil: the fence was not raised: this database has no scope "${scope}", or the server refused.`,
  );
  return `# Raises the fence of the scope "${scope}" after a restore: nothing is granted before it.
# On the primary, before the programs start: npx frazil fence redis … | sh
# It is written to the server in $REDIS_URL, or else to that of this host. It prints the time, in Unix milliseconds.
${CLI} EVAL ${quoted(completion(store)(ENSURE))} ${KEYS.length} ${words} always |
  grep -x -A 1 fence || { echo ${failed} >&2; false; }
`;
}

function scopeRecord(options: InitOptions, complete: (script: string) => string): string {
  const { scope, layout, nodeFrom, nodeTo, windowMaxMs } = recordOf(options);
  const words = [...keysOf(scope), layout, nodeFrom, nodeTo, windowMaxMs].map((word) => quoted(`${word}`));
  return `# The record of the scope "${scope}", once, on the primary. Its reply is "initialised" if there is one: leave that as it is.
${CLI} EVAL ${quoted(complete(INIT))} ${KEYS.length} ${words.join(" ")} |
  grep -x made || { echo ${quoted(NOT_WRITTEN)} >&2; false; }
`;
}

function tagRecords(given: DdlTags, complete: (script: string) => string): string {
  const { tags, first } = printedTags(given);
  const keys = tags.map((tag) => quoted(tagKey(tag)));
  return `# The records of tags, on the primary. ${first} is the first number. One that is there stays as it is: its reply is "present".
for key in ${keys.join(" ")}; do
  ${CLI} EVAL ${quoted(complete(MAKE_TAG))} 1 "$key" ${first} |
    grep -xE 'made|present' || { echo "frazil: the record $key was not written." >&2; exit 1; }
done
`;
}
