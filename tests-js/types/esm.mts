// The types as seen from an ES module in Node.
import * as frazil from "frazil";
import { Layout, Snowflake, type SnowflakeOptions } from "frazil";
import { decode } from "frazil/decode";
import * as alone from "frazil/layout";
import { base62 } from "frazil/text";
import { toSql } from "frazil/transport";
import { check, type Equal } from "./equal.js";

const options: SnowflakeOptions = { node: 7 };
const ids = new Snowflake(options);
check<Equal<ReturnType<typeof ids.next>, bigint>>();
check<Equal<typeof frazil.Snowflake, typeof Snowflake>>();
check<Equal<typeof alone.Layout, typeof Layout>>();
check<Equal<keyof typeof alone, "ConfigError" | "DecodeError" | "FrazilError" | "Layout">>();
check<Equal<ReturnType<typeof decode<"twitter">>["id"], bigint>>();
check<Equal<ReturnType<typeof base62.decode>, bigint>>();
check<Equal<ReturnType<typeof toSql>, string>>();
Layout.named("twitter").decode(1n).parts?.datacenter;
// @ts-expect-error: there is no default export
frazil.default;
// @ts-expect-error: nothing but the entries can be imported
import("frazil/dist/node.cjs");
