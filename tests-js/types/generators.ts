// The types of programs around a generator: options that are made elsewhere, any generator as an argument, and IDs of kinds. It is
// compiled with the oldest compilers too (tests-js/packaging), so it uses no types of a host.
import {
  type Decoded,
  type Id,
  type IdGenerator,
  type IdInput,
  type IdText,
  Layout,
  type LayoutInput,
  type LocalOptions,
  Snowflake,
  type SnowflakeOptions,
} from "frazil";
import type { LeasedSnowflake, LeaseOptions } from "frazil/lease";
import type { Segment } from "frazil/segment";
import { readIds, toSql, type WithIds } from "frazil/transport";
import type { durable, leased, WorkersLeaseOptions } from "frazil/workers";
import { check, type Equal } from "./equal.js";

/** As `process.env`. */
declare const variables: { readonly [name: string]: string | undefined };

// Options with any layout, as a constant, as an argument, and extended.
const twitter: SnowflakeOptions = { layout: "twitter", node: { datacenter: 3, worker: 17 } };
const unnamed: SnowflakeOptions = { node: 7 };
const nodeless: SnowflakeOptions = { layout: Layout.named("mastodon"), node: "none" };
const others: [LocalOptions, LeaseOptions, WorkersLeaseOptions] = [
  { layout: "twitter" },
  { layout: "twitter", scope: "orders" },
  {
    layout: {
      epochMs: 0,
      fields: [
        { kind: "time", bits: 41 },
        { kind: "sequence", bits: 12 },
      ],
    },
  },
];
const ofAny = new Snowflake(twitter);
check<Equal<typeof ofAny, Snowflake<LayoutInput>>>();
check<Equal<typeof ofAny.layout, Layout<string>>>();
const make = (options: SnowflakeOptions): bigint => new Snowflake(options).next();
interface ModuleOptions extends SnowflakeOptions {
  readonly isGlobal?: boolean;
}
const register = ({ isGlobal, ...options }: ModuleOptions) => [isGlobal, make(options)];
register({ layout: "discord", node: { worker: 1, process: 2 }, isGlobal: true });
make({ node: 7 });
// @ts-expect-error: misspelt
make({ node: 7, epoch: 0 });
// @ts-expect-error: no default node id
make({ layout: "twitter" });
make({ node: variables["NODE_ID"] });
// @ts-expect-error: no such layout
make({ layout: "tweeter", node: 7 });
make({ layout: "twitter", node: { datacenter: "3", worker: 17 } });
// @ts-expect-error: a part is a number or its digits
make({ layout: "twitter", node: { datacenter: 3n, worker: 17 } });

// With `satisfies`, or with the name of the layout, the type of the layout is not forgotten.
const kept = { layout: "twitter", node: { datacenter: 3, worker: 17 } } satisfies SnowflakeOptions;
const ids = new Snowflake(kept);
check<Equal<typeof ids, Snowflake<"twitter">>>();
const misspelt = { layout: "twitter", node: { datacenter: 3, wroker: 17 } } satisfies SnowflakeOptions;
// @ts-expect-error: a part that the layout does not have
new Snowflake(misspelt);
// @ts-expect-error: the same
const named: SnowflakeOptions<"twitter"> = { layout: "twitter", node: { datacenter: 3, wroker: 17 } };
// @ts-expect-error: another layout than the one that is named
const wrongLayout: SnowflakeOptions<"twitter"> = { layout: "discord", node: 7 };

// Any generator.
declare const leasedIds: LeasedSnowflake<"edge">;
declare const ofIsolate: Awaited<ReturnType<typeof leased>>;
declare const ofObject: ReturnType<typeof durable>;
declare const own: Snowflake<Layout<"region" | "rack">>;
declare const segment: Segment;
const generators: IdGenerator[] = [
  new Snowflake({ node: 7 }),
  new Snowflake({ layout: "mastodon", node: "none" }),
  ids,
  ofAny,
  own,
  Snowflake.local(),
  leasedIds,
  ofIsolate,
  ofObject,
];
for (const each of generators) {
  check<Equal<ReturnType<typeof each.next>, bigint>>();
  check<Equal<ReturnType<typeof each.nextManyStringsAsync>, Promise<string[]>>>();
  check<Equal<ReturnType<typeof each.decode>, Decoded<string>>>();
  check<Equal<ReturnType<typeof each.close>, void | Promise<void>>>();
  check<Equal<typeof each.node, number | undefined>>();
  each.fill(new BigUint64Array(3));
  for (const id of each) check<Equal<typeof id, bigint>>();
}
check<Equal<Exclude<keyof Snowflake, keyof IdGenerator>, never>>();
const ofTwitter: IdGenerator<"twitter"> = ids;
check<Equal<ReturnType<typeof ofTwitter.decode>, Decoded<"datacenter" | "worker">>>();
// @ts-expect-error: the IDs of another layout
const ofDiscord: IdGenerator<"discord"> = ids;
// @ts-expect-error: the numbers of a segment are no IDs
const ofSegment: IdGenerator = segment;
// @ts-expect-error: of a lease it is a promise
const isClosed: undefined = generators[0]?.close();

// A part of one, which a stub can be.
const place = (from: Pick<IdGenerator, "next">): bigint => from.next();
place({ next: () => 1n });
place(leasedIds);
// @ts-expect-error: an ID is no number
place({ next: () => 1 });

// IDs of kinds.
type UserId = Id<"user">;
type OrderId = Id<"order">;
const user = ids.next() as UserId;
const order = ids.next() as OrderId;
const userText = ids.nextString() as IdText<"user">;
const load = (id: UserId): bigint => id;
load(user);
// @ts-expect-error: of another kind
load(order);
// @ts-expect-error: of none
load(ids.next());
// @ts-expect-error: a text is no number
load(userText);
// @ts-expect-error: of another kind
const orderText: IdText<"order"> = userText;
// An ID of a kind is a bigint, and its text is a text.
const sum: bigint = user + 1n;
const inputs: IdInput[] = [user, userText];
const any: Id[] = [user, order];
check<Equal<ReturnType<typeof toSql>, string>>();
ids.decode(userText).id satisfies bigint;
toSql(user);
const column = BigUint64Array.of(user, order);
// Through JSON it keeps its kind.
interface Message {
  readonly id: IdText<"message">;
  readonly by: IdText<"user">;
  readonly to: readonly (IdText<"user"> | null)[];
  readonly plain: string;
}
check<Equal<WithIds<Message, "id" | "to">["id"], Id<"message">>>();
check<Equal<WithIds<Message, "id" | "to">["by"], IdText<"user">>>();
check<Equal<WithIds<Message, "id" | "to">["to"], readonly (Id<"user"> | null)[]>>();
check<Equal<WithIds<Message, "plain">["plain"], bigint>>();
declare const message: Message;
load(readIds(message, "by").by);
// @ts-expect-error: of another kind
load(readIds(message, "id").id);

export {
  any,
  column,
  inputs,
  isClosed,
  named,
  nodeless,
  ofDiscord,
  ofSegment,
  orderText,
  others,
  sum,
  unnamed,
  wrongLayout,
};
