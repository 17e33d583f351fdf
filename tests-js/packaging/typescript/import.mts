import { FrazilError, Layout, Snowflake, type SnowflakeOptions, type Stats } from "frazil";
import { decode } from "frazil/decode";
import { Layout as LayoutAlone } from "frazil/layout";
import { base62 } from "frazil/text";

const options: SnowflakeOptions = { node: 7 };
const ids = new Snowflake(options);
const id: bigint = ids.next();
const text: string = ids.nextString();
const many: BigUint64Array = ids.fill(new BigUint64Array(3));
const stats: Stats = ids.stats();

const twitter = new Snowflake({ layout: "twitter", node: { datacenter: 3, worker: 17 } });
const datacenter: number | undefined = twitter.decode(twitter.next()).parts?.datacenter;
const layout: Layout<"datacenter" | "worker"> = LayoutAlone.named("twitter");
const date: Date = decode(base62.decode("0Czks0tP37X"), "discord").date;

// @ts-expect-error: there is no default node id
() => new Snowflake({});
// @ts-expect-error: the part is misspelt
() => new Snowflake({ layout: "twitter", node: { datacentre: 3, worker: 17 } });
// @ts-expect-error: there is no such layout
() => Layout.named("tweeter");
// @ts-expect-error: an ID is no number
const wrong: number = ids.next();

const known: boolean = FrazilError.is(new Error(text));
console.log(id > 0n, many.length, stats.issued, datacenter, date.toISOString(), known, typeof wrong, layout === twitter.layout);
