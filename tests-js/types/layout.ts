// The types of `frazil/layout`, which are those of `frazil`.
import type * as frazil from "frazil";
import { type Layout as LayoutOfFrazil, Snowflake } from "frazil";
import {
  type Columns,
  type Composition,
  ConfigError,
  type Decoded,
  DecodeError,
  type ErrorCode,
  type FieldKind,
  FrazilError,
  type IdInput,
  Layout,
  type LayoutField,
  type LayoutInput,
  type LayoutName,
  type LayoutSpec,
  type NodeInput,
  type PartsOf,
  type Plan,
} from "frazil/layout";
import { check, type Equal } from "./equal.js";

check<Equal<typeof Layout, typeof LayoutOfFrazil>>();
check<Equal<[Columns, Plan, FieldKind, IdInput], [frazil.Columns, frazil.Plan, frazil.FieldKind, frazil.IdInput]>>();
check<Equal<[LayoutField, LayoutInput, LayoutName], [frazil.LayoutField, frazil.LayoutInput, frazil.LayoutName]>>();
check<Equal<[LayoutSpec, ErrorCode, PartsOf<"seata">], [frazil.LayoutSpec, frazil.ErrorCode, "node"]>>();
check<Equal<[Composition<"a">, NodeInput<"a">], [frazil.Composition<"a">, frazil.NodeInput<"a">]>>();
const twitter = Layout.named("twitter");
const tweet = twitter.decode("1541815603606036480");
check<Equal<typeof tweet, Decoded<"datacenter" | "worker">>>();
check<Equal<typeof tweet, frazil.Decoded<"datacenter" | "worker">>>();
new Snowflake({ layout: twitter, node: { datacenter: 3, worker: 17 } });
const codeOf = (error: unknown): ErrorCode | undefined => (FrazilError.is(error) ? error.code : undefined);
// @ts-expect-error: no such layout
Layout.named("nope");
// @ts-expect-error: a part that the layout does not have
tweet.parts?.machine;

// @ts-expect-error: this entry mints nothing
import { Snowflake as Minting } from "frazil/layout";

export { ConfigError, codeOf, DecodeError, Minting };
