// The mistakes that everybody makes, each with the call that makes it. `mistakes.txt` has the messages, which people read: every one says
// what to do next. After an intended change: `node tests-js/base/mistakes.mjs --update`.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Layout, Snowflake } from "frazil";
import { decode } from "frazil/decode";
import { manualClock } from "frazil/testing";
import { base62, base64url, hex } from "frazil/text";
import { readIds, toSql } from "frazil/transport";
import { anyId, defineId } from "frazil/typed";

const file = fileURLToPath(new URL("mistakes.txt", import.meta.url));
const plain = Layout.named("default");
const twitter = Layout.named("twitter");
const UserId = defineId("usr");
const PostId = defineId("post");
const invalidDate = new Date("1st of May");
const fields = [
  { kind: "time", bits: 41 },
  { kind: "node", bits: 10 },
  { kind: "sequence", bits: 12 },
];
const epochMs = 1735689600000;
const big = new BigUint64Array(5e6);
/** A row id of another service, as `JSON.parse` reads it. */
const rounded = JSON.parse('{ "id": 175928847299117063 }').id;

/** Mints once at each of these times, on its own clock. */
function mintAt(dates, options) {
  const times = dates.map((date) => Date.parse(date));
  const ids = new Snowflake({ node: 7, now: () => times[0], maxWaitMs: 0, ...options });
  for (; times.length > 1; times.shift()) ids.next();
  return ids.next();
}

/** What `other` packages call an option, with a value as they take it. */
const named = (name, value = 5) => [`new Snowflake({ ${name}: ${value} })`, () => new Snowflake({ [name]: value })];

/** The mistakes, by what was written. */
export const MISTAKES = Object.fromEntries([
  // The node id.
  ["new Snowflake()", () => new Snowflake()],
  ["new Snowflake(7)", () => new Snowflake(7)],
  [
    "new Snowflake({ node: process.env.NODE_ID }), which is not set",
    () => new Snowflake({ node: process.env.NO_SUCH_ID }),
  ],
  ["new Snowflake({ node: 7n })", () => new Snowflake({ node: 7n })],
  ['new Snowflake({ node: process.env.NODE_ID }), which is ""', () => new Snowflake({ node: "" })],
  [
    "new Snowflake({ node: Number(process.env.NODE_ID) }), which is not set",
    () => new Snowflake({ node: Number(undefined) }),
  ],
  ["new Snowflake({ node: process.env.HOSTNAME })", () => new Snowflake({ node: "web-3" })],
  ["new Snowflake({ node: 1024 })", () => new Snowflake({ node: 1024 })],
  ['new Snowflake({ node: "1024" })', () => new Snowflake({ node: "1024" })],
  [
    'new Snowflake({ layout: "twitter", node: { datacenter: 1, worker: "web-3" } })',
    () => new Snowflake({ layout: "twitter", node: { datacenter: 1, worker: "web-3" } }),
  ],
  ["new Snowflake({ node: { worker: 7 } })", () => new Snowflake({ node: { worker: 7 } })],
  ["new Snowflake({ node: () => 7 })", () => new Snowflake({ node: () => 7 })],
  ["new Snowflake({ node: [7] })", () => new Snowflake({ node: [7] })],
  [
    'new Snowflake({ layout: "twitter", node: { datacenter: 3 } })',
    () => new Snowflake({ layout: "twitter", node: { datacenter: 3 } }),
  ],
  [
    'new Snowflake({ layout: "twitter", node: { dataCenter: 3, worker: 1 } })',
    () => new Snowflake({ layout: "twitter", node: { dataCenter: 3, worker: 1 } }),
  ],
  ['new Snowflake({ layout: "mastodon", node: 7 })', () => new Snowflake({ layout: "mastodon", node: 7 })],
  ['new Snowflake({ node: "none" })', () => new Snowflake({ node: "none" })],
  // The names of options.
  ["new Snowflake({ node: 7, workerId: 3 })", () => new Snowflake({ node: 7, workerId: 3 })],
  ["new Snowflake({ datacenterId: 1, workerId: 3 })", () => new Snowflake({ datacenterId: 1, workerId: 3 })],
  [
    'new Snowflake({ layout: "twitter", worker: 3, node: 7 })',
    () => new Snowflake({ layout: "twitter", worker: 3, node: 7 }),
  ],
  ["Snowflake.local({ datacenterId: 1, workerId: 3 })", () => Snowflake.local({ datacenterId: 1, workerId: 3 })],
  ["new Snowflake({ dir })", () => new Snowflake({ dir: "/var/lib/shop" })],
  ["new Snowflake({ node: 7, scope })", () => new Snowflake({ node: 7, scope: "orders" })],
  ["new Snowflake({ node: 7, windowMs })", () => new Snowflake({ node: 7, windowMs: 60_000 })],
  ...[
    "workerId",
    "worker_id",
    "datacenterId",
    "machineId",
    "machine_id",
    "instance_id",
    "processId",
    "mid",
    "nodeId",
  ].map((name) => named(name)),
  ...["epoch", "twepoch", "customEpoch", "custom_epoch", "epochMS"].map((name) => named(name, epochMs)),
  named("sequence", 12),
  named("maxWait", 100),
  ['new Snowflake({ layuot: "discord" })', () => new Snowflake({ layuot: "discord" })],
  ["new Snowflake(new Map([...]))", () => new Snowflake(new Map([["node", 7]]))],
  ["new Snowflake({ node: 7, sequenceStart: true })", () => new Snowflake({ node: 7, sequenceStart: true })],
  ["new Snowflake({ node: 7, now: Date.now() })", () => new Snowflake({ node: 7, now: epochMs })],
  ["Snowflake.local({ now: Date.now })", () => Snowflake.local({ now: Date.now })],
  ["Snowflake.local({ node: undefined })", () => Snowflake.local({ node: undefined })],
  ["Snowflake.local({ path })", () => Snowflake.local({ path: "/var/lib/shop" })],
  // The epoch.
  ["new Snowflake({ node: 7, epochMs: Date.now() })", () => new Snowflake({ node: 7, epochMs: Date.now() })],
  ["new Snowflake({ node: 7, epochMs: new Date() })", () => new Snowflake({ node: 7, epochMs: new Date() })],
  [
    "new Snowflake({ node: 7, layout: new Layout({ epochMs: Date.now(), ... }) })",
    () => new Snowflake({ node: 7, layout: new Layout({ epochMs: Date.now(), fields }) }),
  ],
  ['new Snowflake({ node: 7, epochMs: "2025-01-01" })', () => new Snowflake({ node: 7, epochMs: "2025-01-01" })],
  [
    'new Snowflake({ node: 7, epochMs: new Date("1st of May") })',
    () => new Snowflake({ node: 7, epochMs: invalidDate }),
  ],
  ["new Snowflake({ node: 7, epochMs: seconds })", () => new Snowflake({ node: 7, epochMs: 1_577_836_800 })],
  [
    "new Snowflake({ node: 7, epochMs: seconds with a fraction })",
    () => new Snowflake({ node: 7, epochMs: 1577836800.5 }),
  ],
  ["an epoch in the future, and next()", () => mintAt(["2026-05-01T12:00:00Z"], { epochMs: new Date("2026-06-01") })],
  // Layouts.
  ['new Layout("twitter")', () => new Layout("twitter")],
  ['Layout.named("twiter")', () => Layout.named("twiter")],
  ['Layout.named("Discord")', () => Layout.named("Discord")],
  ['new Snowflake({ node: 7, layout: "snowflake" })', () => new Snowflake({ node: 7, layout: "snowflake" })],
  ['new Snowflake({ node: 7, layout: "mine" })', () => new Snowflake({ node: 7, layout: "mine" })],
  [
    "new Layout({ epochMs, fields: { time: 41, ... } })",
    () => new Layout({ epochMs, fields: { time: 41, node: 10, sequence: 12 } }),
  ],
  ["new Layout({ epochMs }), without fields", () => new Layout({ epochMs })],
  ["new Layout({ epochMs, fields: [] })", () => new Layout({ epochMs, fields: [] })],
  ["new Layout without a sequence field", () => new Layout({ epochMs, fields: fields.slice(0, 2) })],
  [
    "new Layout of 73 bits",
    () => new Layout({ epochMs, fields: [...fields, { kind: "node", name: "shard", bits: 10 }] }),
  ],
  [
    'new Layout with { type: "time" }',
    () => new Layout({ epochMs, fields: [{ type: "time", bits: 41 }, ...fields.slice(1)] }),
  ],
  ['new Layout with { kind: "worker" }', () => new Layout({ epochMs, fields: [{ kind: "worker", bits: 10 }] })],
  // Times.
  ['layout.minIdAt(new Date("1st of May"))', () => plain.minIdAt(invalidDate)],
  ['layout.minIdAt("2025-05-01")', () => plain.minIdAt("2025-05-01")],
  ["layout.minIdAt(Date.now() / 1000)", () => plain.minIdAt(1746057600)],
  ["layout.range in seconds", () => plain.range(1793491200, 1796083200)],
  ["layout.range up to Date.now() / 1000", () => plain.range(0, 1796083200)],
  ["layout.range(Date.now() / 1000, …)", () => plain.range(1795596578.433, epochMs)],
  ["layout.minIdAt(performance.timeOrigin / 1000)", () => plain.minIdAt(1746057600.25)],
  ["layout.compose with a time in seconds", () => plain.compose({ timestampMs: 1746057600, node: 7, sequence: 0 })],
  ["layout.minIdAt(), without a time", () => plain.minIdAt()],
  ['layout.maxIdAt(new Date("1999-12-31"))', () => plain.maxIdAt(new Date("1999-12-31"))],
  ["layout.compose with an invalid Date", () => plain.compose({ timestampMs: invalidDate, node: 7, sequence: 0 })],
  ["layout.compose without a node id", () => plain.compose({ timestampMs: epochMs, sequence: 0 })],
  ["layout.compose with { timestamp: … }", () => twitter.compose({ timestamp: epochMs, node: 7, sequence: 0 })],
  // IDs.
  ["layout.decode(id) with a number from JSON.parse", () => plain.decode(rounded)],
  ['decode(id, "discord") with a number from JSON.parse', () => decode(rounded, "discord")],
  ['readIds(message, "id") with a number from JSON.parse', () => readIds({ id: rounded }, "id")],
  ["toSql(id) with a number from JSON.parse", () => toSql(rounded)],
  ['layout.parse("")', () => plain.parse("")],
  ['layout.parse(" 175928847299117063")', () => plain.parse(" 175928847299117063")],
  ['layout.parse("175928847299117063n")', () => plain.parse("175928847299117063n")],
  ["layout.parse(undefined)", () => plain.parse(undefined)],
  ["layout.parse(row), with the row in place of its ID", () => plain.parse({ id: "175928847299117063", name: "x" })],
  ['decode(row, "twitter"), with the row in place of its ID', () => decode({ id: "175928847299117063" }, "twitter")],
  ["layout.timestampOf(row)", () => plain.timestampOf({ id: 5n })],
  ["layout.toSigned(row)", () => plain.toSigned({ id: 5n })],
  ["layout.fromSigned(row)", () => plain.fromSigned({ id: 5n })],
  ["hex.encode(row)", () => hex.encode({ id: 5n })],
  ["hex.encodeMany(rows)", () => hex.encodeMany([5n, { id: 6n }])],
  ["hex.encodeMany(row)", () => hex.encodeMany({ id: 6n })],
  ["layout.decode([id, id])", () => plain.decode([5n, 6n])],
  ["layout.decode(new BigUint64Array(2))", () => plain.decode(new BigUint64Array(2))],
  ["layout.decodeMany([id, id])", () => plain.decodeMany([5n, 6n])],
  ["layout.decodeMany(id)", () => plain.decodeMany(5n)],
  ["hex.encode([id, id])", () => hex.encode([5n, 6n])],
  ["hex.decode([text, text])", () => hex.decode(["00", "01"])],
  ['base62.decode("dhZ")', () => base62.decode("dhZ")],
  ['base62.decode("")', () => base62.decode("")],
  [`readIds('{"id":"5"}', "id")`, () => readIds('{"id":"5"}', "id")],
  ["hex.decode(id)", () => hex.decode(175928847299117063n)],
  ["layout.decode(ids.next)", () => plain.decode(() => 5n)],
  ["layout.decode(null)", () => plain.decode(null)],
  ["layout.decode(0.5)", () => plain.decode(0.5)],
  ['decode("", "twitter")', () => decode("", "twitter")],
  ["readIds(rows), with an object in place of an ID", () => readIds({ id: { low: 1, high: 2 } }, "id")],
  ["toSql(row)", () => toSql({ id: 5n })],
  ["layout.range(row, …)", () => plain.range({ createdAt: 5 }, epochMs)],
  ["layout.parse of an ID that is too large", () => plain.parse(2n ** 63n)],
  ["decode(id, Layout.named(…))", () => decode(175928847299117063n, plain)],
  ["decode(id), without a layout", () => decode(175928847299117063n)],
  // Typed IDs.
  ['defineId("User")', () => defineId("User")],
  ['defineId("usr_")', () => defineId("usr_")],
  ['defineId("usr", ids)', () => defineId("usr", new Snowflake({ node: 8 }))],
  ['defineId("usr", { generator })', () => defineId("usr", { generator: new Snowflake({ node: 8 }) })],
  ['defineId("usr", null)', () => defineId("usr", null)],
  ['defineId("usr", { ids: () => ids.next() })', () => defineId("usr", { ids: () => 5n })],
  ['defineId("usr", { layout: "snowflake" })', () => defineId("usr", { layout: "snowflake" })],
  ['defineId("usr", { form: base64url })', () => defineId("usr", { form: base64url })],
  ['defineId("usr", { form: base62.short })', () => defineId("usr", { form: base62.short })],
  ["UserId.next() of a type without ids", () => UserId.next()],
  ["UserId.parse(postText)", () => UserId.parse(PostId.format(5n))],
  ["UserId.parse(text without its prefix)", () => UserId.parse("1ptWyK4WgZU")],
  ["UserId.parse(text with a space)", () => UserId.parse("usr_1ptWyK4WgZU ")],
  ["UserId.parse(id)", () => UserId.parse(5n)],
  ["UserId.parse of a text beyond the layout", () => UserId.parse("usr_zzzzzzzzzzz")],
  ["UserId.format(text)", () => UserId.format("usr_1ptWyK4WgZU")],
  ["UserId.fromDriver(id) with a number that the driver has rounded", () => UserId.fromDriver(rounded)],
  ["UserId.fromDriver(null)", () => UserId.fromDriver(null)],
  ["UserId.toDriver(row)", () => UserId.toDriver({ id: 5n })],
  ["anyId(UserId, UserId)", () => anyId(UserId, UserId)],
  ["anyId([UserId, PostId])", () => anyId([UserId, PostId])],
  ["anyId(UserId, PostId).parse(orgText)", () => anyId(UserId, PostId).parse("org_1ptWyK4WgZU")],
  ["z.toJSONSchema of an output", () => UserId["~standard"].jsonSchema.output()],
  // Calls.
  ["ids.nextNumber() of the default layout", () => new Snowflake({ node: 7, now: () => epochMs }).nextNumber()],
  ["ids.nextMany()", () => new Snowflake({ node: 7, now: () => epochMs }).nextMany()],
  ['ids.nextMany("5")', () => new Snowflake({ node: 7, now: () => epochMs }).nextMany("5")],
  ["ids.fill([])", () => new Snowflake({ node: 7, now: () => epochMs }).fill([])],
  ["ids.fill(new BigUint64Array(5e6))", () => new Snowflake({ node: 7, now: () => epochMs }).fill(big)],
  [
    "ids.fill(new BigUint64Array(1e6)) with 10 ms to wait",
    () => new Snowflake({ node: 7, maxWaitMs: 10, now: () => epochMs }).fill(big.subarray(0, 1e6)),
  ],
  ["ids.fill(new BigInt64Array(2))", () => new Snowflake({ node: 7, now: () => epochMs }).fill(new BigInt64Array(2))],
  [
    "ids.nextMany(1_000_000) with 10 ms to wait",
    () => new Snowflake({ node: 7, maxWaitMs: 10, now: () => epochMs }).nextMany(1_000_000),
  ],
  ["now: manualClock()", () => new Snowflake({ node: 7, now: manualClock() })],
  ['manualClock("2026-05-01")', () => manualClock("2026-05-01")],
  ["now: () => new Date()", () => new Snowflake({ node: 7, now: () => new Date(epochMs) }).next()],
  ["now: async () => Date.now()", () => new Snowflake({ node: 7, now: async () => epochMs }).next()],
  // Clocks of tests.
  ["a clock that was at 2030 for a test", () => mintAt(["2030-01-01T00:00:00Z", "2026-05-01T12:00:00Z"])],
  [
    "a clock that stands still while next() waits",
    () => {
      const ids = new Snowflake({ node: 7, maxWaitMs: 1, now: () => epochMs });
      for (;;) ids.next();
    },
  ],
  ["a clock that goes back by a second", () => mintAt(["2026-05-01T12:00:01Z", "2026-05-01T12:00:00Z"])],
  ["a clock that shows 1970, as fake timers do", () => mintAt(["1970-01-01T00:00:00Z"])],
  ["a layout whose time is over", () => mintAt(["2026-05-01T12:00:00Z"], { layout: "baidu" })],
  // States.
  [
    "two values of sequenceStart",
    () => [new Snowflake({ node: 961 }), new Snowflake({ node: 961, sequenceStart: "random" })],
  ],
  [
    "the default sequenceStart beside another one",
    () => [new Snowflake({ node: 962, sequenceStart: "wrap" }), new Snowflake({ node: 962 })],
  ],
  [
    "next() after close()",
    () => {
      const ids = new Snowflake({ node: 7, now: () => epochMs });
      ids.close();
      ids.next();
    },
  ],
]);

/** The message of a mistake, without the time of the run. */
function messageOf(call) {
  try {
    call();
  } catch (error) {
    const { hint } = error;
    return `${error}${hint === undefined ? "" : `\n  hint: ${hint}`}`.replace(
      /(?<=must be a constant, got )\d+/,
      "<now>",
    );
  }
  throw new Error(`not refused: ${call}`);
}

/** The messages, as the snapshot has them. */
export function messages() {
  const rows = Object.entries(MISTAKES).map(([written, call]) => `${written}\n  ${messageOf(call)}\n`);
  return rows.join("\n");
}

/** The snapshot. */
export const committed = () => readFileSync(file, "utf8");

if (process.argv[1] === import.meta.filename && process.argv.includes("--update")) writeFileSync(file, messages());
