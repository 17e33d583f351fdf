// The types of `frazil/decode`.
import {
  type Decoded,
  type DecodedOf,
  DecodeError,
  decode,
  type ErrorCode,
  FrazilError,
  type IdInput,
  type LayoutName,
  type NodeParts,
  type PartsOf,
} from "frazil/decode";
import { check, type Equal } from "./equal.js";

const tweet = decode("1541815603606036480", "twitter");
check<Equal<typeof tweet, Decoded<"datacenter" | "worker">>>();
check<Equal<typeof tweet.id, bigint>>();
check<Equal<typeof tweet.date, Date>>();
check<Equal<typeof tweet.parts, { readonly datacenter: number; readonly worker: number } | undefined>>();
check<Equal<typeof tweet, DecodedOf<"twitter">>>();
check<Equal<typeof tweet.parts, NodeParts<PartsOf<"twitter">> | undefined>>();
const workerOf = ({ parts }: DecodedOf<"twitter">): number | undefined => parts?.worker;
workerOf(tweet);
const copy = { ...tweet, sequence: 8 };
check<Equal<keyof typeof copy, "id" | "timestampMs" | "node" | "clock" | "sequence">>();
// @ts-expect-error: a copy has no accessors
copy.date;
const toot = decode(1, "mastodon");
check<Equal<typeof toot, Decoded<never>>>();
const timeOf = (id: IdInput, layout: LayoutName) => decode(id, layout).timestampMs;
check<Equal<ReturnType<typeof timeOf>, number>>();
const codeOf = (error: unknown): ErrorCode | undefined => (FrazilError.is(error) ? error.code : undefined);
// @ts-expect-error: no such layout
decode(1n, "nope");
// @ts-expect-error: a layout is needed
decode(1n);
// @ts-expect-error: null is no ID
decode(null, "twitter");
// @ts-expect-error: a part that the layout does not have
tweet.parts?.machine;

// @ts-expect-error: the decoder mints nothing
import { Snowflake } from "frazil/decode";

export { codeOf, DecodeError, Snowflake, timeOf, workerOf };
