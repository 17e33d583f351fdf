/** The operations on segments, as scripts in Lua. */

/** The record of a tag: a hash with `next`, `recent` and `incarnation`, under its own key. */
export const tagKey = (tag: string): string => `frazil:segment:${tag}`;

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

/** Reads the record of a tag. */
export const READ_TAG = `{incarnation}{eviction}${TAG_RECORD}return record("tag")`;

/**
 * `allocate`. Invariant: the record is replaced only as it was read, and only by the server that it was decided for
 * (`TagTable.replaceTag` has the reason).
 *
 * ARGV: next, incarnation and recent to write; the same as they were read.
 */
export const REPLACE_TAG = `{incarnation}{eviction}${TAG_RECORD}local same = next == ARGV[4] and written == ARGV[5] and recent == ARGV[6]
if not same or incarnation ~= ARGV[2] then return record("changed") end
redis.call("HSET", KEYS[1], "next", ARGV[1], "incarnation", ARGV[2], "recent", ARGV[3])
return {"replaced"}`;

/** `initSegment`. A record that is there stays. ARGV: the first number. */
export const MAKE_TAG = `{incarnation}{eviction}if redis.call("HSETNX", KEYS[1], "next", ARGV[1]) == 0 then return {"present"} end
redis.call("HSET", KEYS[1], "recent", "[]", "incarnation", incarnation)
return {"made"}`;
