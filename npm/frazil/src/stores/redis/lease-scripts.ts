/** The operations on leases, as scripts in Lua. */
import { REACH } from "../kit/lease/rules.js";
import { FENCE_MARGIN_MS } from "../lease-store.js";

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
export const KEYS = ["scope", "rows", "ends", "grants"] as const;

export const keysOf = (scope: string): string[] => KEYS.map((key) => `frazil:{${scope}}:${key}`);

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
export const SERVER = `local function fact(info, name) return string.match(info, "\\n" .. name .. ":([^\\r\\n]*)") end
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
export const CONFIRM = `{incarnation}return {"primary", confirmed}`;

/** Whether the server may remove the keys of a scope. Not read by renewals: it costs as much as the rest of the script. */
export const EVICTION = `local policy = fact(redis.call("INFO", "memory"), "maxmemory_policy")
if policy and policy ~= "noeviction" then return {"evicting", policy} end
`;

/** The incarnation by an expression of the user. */
export const EXPRESSION = `local incarnation = ({lua})
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
export const ACQUIRE = `${CLOCK}{incarnation}{eviction}${RECORD}${ROWS}
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
export const RENEW = `${CLOCK}{incarnation}${RECORD}${ROWS}${ALLOWED}
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
export const RELEASE = `${CLOCK}${ROWS}
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
export const ENSURE = `${CLOCK}{incarnation}{eviction}${RECORD}
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
export const INIT = `${CLOCK}{incarnation}{eviction}
local layout = redis.call("HGET", scope, "layout")
if layout then return {"initialised", layout, redis.call("HGET", scope, "node_from"), redis.call("HGET", scope, "node_to")} end
if redis.call("EXISTS", rows, ends, grants) > 0 then return {"initialised"} end
redis.call("HSET", scope, "layout", ARGV[1], "node_from", ARGV[2], "node_to", ARGV[3], "next_node", ARGV[2],
  "window_max_ms", ARGV[4], "fence_ms", "0", "incarnation", incarnation)
return {"made"}`;
