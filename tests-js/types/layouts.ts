// The types of layouts: names, parts, and the arguments and results of decoding and composing.
import {
  type CheckedSpec,
  type Columns,
  type Composition,
  type Decoded,
  type DecodedOf,
  type IdRange,
  Layout,
  type LayoutName,
  type LayoutSpec,
  type PartsOf,
  type Plan,
  Snowflake,
} from "frazil";
import { decode } from "frazil/decode";
import { check, type Equal } from "./equal.js";

const twitter = Layout.named("twitter");
check<Equal<typeof twitter, Layout<"datacenter" | "worker">>>();
const decoded = twitter.decode("1541815603606036480");
check<Equal<typeof decoded, Decoded<"datacenter" | "worker">>>();
check<Equal<typeof decoded.id, bigint>>();
check<Equal<typeof decoded.timestampMs, number>>();
check<Equal<typeof decoded.date, Date>>();
check<Equal<typeof decoded.node, number | undefined>>();
check<Equal<typeof decoded.clock, number | undefined>>();
check<Equal<typeof decoded.sequence, number>>();
check<Equal<typeof decoded.parts, { readonly datacenter: number; readonly worker: number } | undefined>>();
check<Equal<ReturnType<typeof twitter.parse>, bigint>>();
check<Equal<ReturnType<typeof twitter.tryParse>, bigint | undefined>>();
check<Equal<ReturnType<typeof twitter.timestampOf>, number>>();
check<Equal<ReturnType<typeof twitter.plan>, Plan>>();
check<Equal<ReturnType<typeof twitter.decodeMany>, Columns>>();
check<Equal<ReturnType<typeof twitter.toJSON>, CheckedSpec>>();
check<Equal<CheckedSpec["epochMs"], number>>();
check<Equal<(typeof Layout)["names"], readonly LayoutName[]>>();
check<Equal<PartsOf<"mastodon">, never>>();
check<Equal<DecodedOf<"discord">, Decoded<"worker" | "process">>>();
check<Equal<DecodedOf<Layout<"shard">>, Decoded<"shard">>>();
// A list of fields that the compiler does not know may have any part.
check<Equal<PartsOf<LayoutSpec>, string>>();
declare const spec: LayoutSpec;
const ofSpec = new Snowflake({ layout: spec, node: { region: 1, machine: 5 } });
check<Equal<ReturnType<typeof ofSpec.decode>, Decoded<string>>>();
new Snowflake({ layout: spec, node: 7 });
new Snowflake({ layout: spec, node: "none" });
check<Equal<PartsOf<"discord">, "worker" | "process">>();
twitter.decode(1n).date.toISOString();
twitter.decode(1);
twitter.tryParse(null);
twitter.compose(decoded);
const { date, parts, toJSON } = decoded;
check<
  Equal<[typeof date, typeof parts], [Date, { readonly datacenter: number; readonly worker: number } | undefined]>
>();
check<Equal<ReturnType<typeof toJSON>, object>>();
const copy = { ...decoded };
check<Equal<keyof typeof copy, "id" | "timestampMs" | "node" | "clock" | "sequence">>();
twitter.compose(copy);
twitter.compose({ ...decoded, sequence: 8 });
twitter.compose({ ...decoded, node: { datacenter: 3, worker: 17 }, clock: undefined });
twitter.compose(decode("1541815603606036480", "twitter"));
twitter.compose({ ...decode("1541815603606036480", "twitter"), sequence: 8 });
twitter.compose({ timestampMs: new Date(), node: 113, sequence: 0 });
twitter.compose({ timestampMs: 0, node: { datacenter: 3, worker: 17 }, sequence: 0 });
twitter.minIdAt(new Date());
const range: IdRange = twitter.range(new Date(), 0);
check<Equal<typeof range.untilId, bigint>>();
Layout.named("seata").range(0, 1, { node: 7 });
// @ts-expect-error: a bound is read-only
range.fromId = 0n;
Layout.named("seata").maxIdAt(0, { node: 7 });
twitter.decodeMany(new BigInt64Array(1));
const moved = twitter.with({ epochMs: 0 });
twitter.with({ epochMs: new Date(0) });
check<Equal<typeof moved, Layout<"datacenter" | "worker">>>();
const fields: Composition<"node"> = { timestampMs: 0, node: { node: 7 }, sequence: 0 };
Layout.named("default").compose(fields);

// @ts-expect-error: no such layout
Layout.named("nope");
// @ts-expect-error: names are lower case
Layout.named("Twitter");
// @ts-expect-error: a part that the layout does not have
decoded.parts?.machine;
// @ts-expect-error: what was decoded does not change
decoded.sequence = 1;
// @ts-expect-error: a copy has no accessors
copy.date;
// @ts-expect-error: a copy has no accessors
copy.parts;
// @ts-expect-error: a copy has no methods
copy.toJSON();
// @ts-expect-error: no layout can be changed
twitter.epochMs = 0;
// @ts-expect-error: null is no ID
twitter.decode(null);
// @ts-expect-error: a part is missing
twitter.compose({ timestampMs: 0, node: { datacenter: 3 }, sequence: 0 });
// @ts-expect-error: a sequence is needed
twitter.compose({ timestampMs: 0, node: 113 });
// @ts-expect-error: a layout has an epoch
new Layout({ fields: [] });
// @ts-expect-error: misspelt
new Layout({ epoch: 0, fields: [] });
// @ts-expect-error: misspelt
twitter.with({ epoch: 0 });
// @ts-expect-error: a list of numbers is no column of IDs
twitter.decodeMany([1n]);
// @ts-expect-error: internal to the package
Layout.from("twitter");
