// The types of generators: options by layout, and the arguments and results of calls.
import {
  type Backend,
  type IdInput,
  Layout,
  type LocalOptions,
  type NodeOption,
  Snowflake,
  type SnowflakeOptions,
  type StateFile,
  type Stats,
} from "frazil";
import { check, type Equal } from "./equal.js";

/** As `process.env`. */
declare const variables: { readonly [name: string]: string | undefined };

const ids = new Snowflake({ node: 7 });
check<Equal<typeof ids, Snowflake<"default">>>();

// Arguments and results of calls.
check<Equal<typeof ids.next, () => bigint>>();
check<Equal<ReturnType<typeof ids.nextString>, string>>();
check<Equal<ReturnType<typeof ids.tryNext>, bigint | undefined>>();
check<Equal<ReturnType<typeof ids.nextNumber>, number>>();
check<Equal<ReturnType<typeof ids.nextMany>, bigint[]>>();
check<Equal<ReturnType<typeof ids.nextManyStrings>, string[]>>();
check<Equal<ReturnType<typeof ids.fill>, BigUint64Array>>();
check<Equal<ReturnType<typeof ids.nextAsync>, Promise<bigint>>>();
check<Equal<ReturnType<typeof ids.nextStringAsync>, Promise<string>>>();
check<Equal<ReturnType<typeof ids.nextManyAsync>, Promise<bigint[]>>>();
check<Equal<ReturnType<typeof ids.nextManyStringsAsync>, Promise<string[]>>>();
check<Equal<ReturnType<typeof ids.fillAsync>, Promise<BigUint64Array>>>();
check<Equal<ReturnType<typeof ids.close>, void>>();
check<Equal<ReturnType<typeof ids.stats>, Stats>>();
check<Equal<typeof ids.backend, Backend>>();
check<Equal<Backend, "native" | "wasm">>();
check<Equal<typeof ids.node, number | undefined>>();
check<Equal<typeof ids.layout, Layout<"node">>>();
check<Equal<IdInput, bigint | string | number>>();
for (const id of ids) check<Equal<typeof id, bigint>>();
const { next } = ids;
check<Equal<typeof next, () => bigint>>();
ids.fill(new BigUint64Array(3));
ids.nextAsync({ signal: AbortSignal.timeout(5) });
const disposable: Disposable = ids;
// @ts-expect-error: signed numbers cannot hold every ID
ids.fill(new BigInt64Array(3));
// @ts-expect-error: a count is a number
ids.nextMany("3");
// @ts-expect-error: a count is needed
ids.nextMany();
// @ts-expect-error: a signal, not its controller
ids.nextAsync({ signal: new AbortController() });
// @ts-expect-error: misspelt
ids.nextAsync({ singal: AbortSignal.timeout(5) });
// @ts-expect-error: an ID is no number
const asNumber: number = ids.next();
// @ts-expect-error: the node id does not change
ids.node = 8;

// The node id, whose type depends on the layout.
type Given = number | string | undefined;
check<Equal<NodeOption<"default">, Given | { readonly node: Given }>>();
check<Equal<NodeOption<"mastodon">, "none">>();
check<Equal<NodeOption<"twitter">, Given | { readonly datacenter: Given; readonly worker: Given }>>();
new Snowflake({ node: { node: 7 } });
new Snowflake({ layout: "twitter", node: 113 });
new Snowflake({ layout: "twitter", epochMs: 1609459200000, node: { datacenter: 3, worker: 17 } });
new Snowflake({ epochMs: new Date("2025-01-01"), node: 7 });
new Snowflake({ layout: "mastodon", node: "none" });
new Snowflake({ layout: Layout.named("discord"), node: { worker: 1, process: 2 } });
new Snowflake({ layout: Layout.named("mastodon"), node: "none" });
// @ts-expect-error: no default node id
new Snowflake();
// @ts-expect-error: no default node id
new Snowflake({});
// @ts-expect-error: no default node id
new Snowflake({ layout: "twitter" });
new Snowflake({ node: variables["NODE_ID"] });
new Snowflake({ layout: "twitter", node: variables["NODE_ID"] });
new Snowflake({ layout: "twitter", node: { datacenter: 1, worker: variables["WORKER"] } });
// @ts-expect-error: an ID is not a node id
new Snowflake({ node: 7n });
// @ts-expect-error: a layout without a node field has one node id
new Snowflake({ layout: "mastodon", node: variables["NODE_ID"] });
// @ts-expect-error: a part is missing
new Snowflake({ layout: "twitter", node: { datacenter: 3 } });
// @ts-expect-error: a part that the layout does not have
new Snowflake({ layout: "twitter", node: { datacenter: 3, worker: 17, rack: 1 } });
// @ts-expect-error: the parts of another layout
new Snowflake({ layout: "discord", node: { datacenter: 3, worker: 17 } });
// @ts-expect-error: `mastodon` has no node field
new Snowflake({ layout: "mastodon", node: 7 });
// @ts-expect-error: no such layout
new Snowflake({ layout: "nope", node: 7 });
// @ts-expect-error: the parts of a custom layout
new Snowflake({ layout: Layout.named("discord"), node: { datacenter: 3, worker: 17 } });

// A layout as an object literal.
const custom = new Snowflake({
  layout: {
    epochMs: 1704067200000,
    fields: [
      { kind: "time", bits: 41 },
      { kind: "node", bits: 4, name: "region" },
      { kind: "node", bits: 6, name: "rack" },
      { kind: "sequence", bits: 12 },
    ],
  },
  node: { region: 1, rack: 2 },
});
check<Equal<typeof custom.layout, Layout<"region" | "rack">>>();
check<
  Equal<NonNullable<ReturnType<typeof custom.decode>["parts"]>, { readonly region: number; readonly rack: number }>
>();
const unnamed = {
  epochMs: 0,
  fields: [
    { kind: "time", bits: 41 },
    { kind: "node", bits: 10 },
    { kind: "sequence", bits: 12 },
  ],
} as const;
new Snowflake({ layout: unnamed, node: { node: 7 } });
const nodeless = {
  epochMs: 0,
  fields: [
    { kind: "time", bits: 41 },
    { kind: "sequence", bits: 12 },
  ],
} as const;
new Snowflake({ layout: nodeless, node: "none" });
// @ts-expect-error: the layout has no node field
new Snowflake({ layout: nodeless, node: 7 });
// @ts-expect-error: the name of the part is "node"
new Snowflake({ layout: unnamed, node: { worker: 7 } });
// @ts-expect-error: no such kind
new Snowflake({ layout: { epochMs: 0, fields: [{ kind: "timestamp", bits: 41 }] }, node: 7 });
// A layout that is only known at run time.
declare const some: Layout;
new Snowflake({ layout: some, node: { anything: 7 } });
new Snowflake({ layout: some, node: "none" });

// Options.
new Snowflake({
  node: 7,
  maxLeadMs: 0,
  maxWaitMs: 0,
  maxAsyncWaitMs: 0,
  sequenceStart: "random",
  unshared: true,
  now: () => 0,
});
// @ts-expect-error: misspelt
new Snowflake({ node: 7, maxLead: 5 });
// @ts-expect-error: there is no such start
new Snowflake({ node: 7, sequenceStart: "ones" });
// @ts-expect-error: milliseconds are a number
new Snowflake({ node: 7, maxWaitMs: "5" });
// @ts-expect-error: a clock returns a number
new Snowflake({ node: 7, now: () => new Date() });
// @ts-expect-error: misspelt, in options that are a separate constant
const options: SnowflakeOptions = { node: 7, epoch: 0 };
const twitter: SnowflakeOptions<"twitter"> = { layout: "twitter", node: { datacenter: 3, worker: 17 } };

// Generators as parameters.
function mint(from: Snowflake<"twitter">): bigint {
  return from.next();
}
mint(new Snowflake(twitter));

export { asNumber, disposable, options };

// `Snowflake.local()`: every option has a default, and the type of the node id depends on the layout.
const own = Snowflake.local();
check<Equal<typeof own, Snowflake<"default">>>();
check<Equal<ReturnType<typeof own.health>["file"], StateFile | undefined>>();
const shop = { dir: "/var/lib/shop", scope: "shop", maxLeadMs: 0, startWaitMs: 0, fileSystem: "fuse" } as const;
const twitterOptions: LocalOptions<"twitter"> = { ...shop, layout: "twitter", node: { datacenter: 1, worker: 2 } };
check<Equal<ReturnType<typeof Snowflake.local<"twitter">>, Snowflake<"twitter">>>();
Snowflake.local(twitterOptions).decode(1n).parts?.worker;
Snowflake.localAsync({ layout: "mastodon", signal: AbortSignal.timeout(5) }).then((ids) => ids.next());
// @ts-expect-error: a generator with a state file takes no `now`
Snowflake.local({ now: Date.now });
// @ts-expect-error: a misspelt part
Snowflake.local({ layout: "twitter", node: { datacenter: 1, wroker: 2 } });
// @ts-expect-error: only localAsync() can be aborted
Snowflake.local({ signal: AbortSignal.timeout(5) });
