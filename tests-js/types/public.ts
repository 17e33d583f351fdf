// The types of `frazil/public`.
import { Layout, Snowflake } from "frazil";
import {
  type PublicIds,
  type PublicKey,
  publicIds,
  type SealedOptions,
  type ShortKey,
  type ShortOptions,
} from "frazil/public";
import { defineId } from "frazil/typed";
import { check, type Equal } from "./equal.js";

const key = "frazilkey_1K4HyElsTAhkNggnbvquuy0MuvgG";
const users = publicIds({ kind: "user", keys: [key, new Uint8Array(16)] });
const orders = publicIds({ kind: "order", form: "short", keys: [{ slot: 0, key }], layout: Layout.named("discord") });
check<Equal<typeof users, PublicIds<"user", "sealed">>>();
check<Equal<typeof orders, PublicIds<"order", "short">>>();
check<Equal<ReturnType<typeof users.decode>, bigint>>();
check<Equal<ReturnType<typeof users.encode>, string>>();

const ids = new Snowflake({ node: 7 });
export const text: string = users.encode(ids.next());
export const fromText: string = users.encode(ids.nextString());
export const UserId = defineId("usr", { ids, public: publicIds({ kind: "usr", keys: [key], layout: ids.layout }) });
export const OrderId = defineId("usr", { public: publicIds({ kind: "usr", keys: [key] }) });
check<Equal<(typeof OrderId)["prefix"], "usr">>();
// @ts-expect-error: the kind is the prefix
defineId("org", { public: publicIds({ kind: "usr", keys: [key] }) });
// @ts-expect-error: also with a generator
defineId("org", { ids, public: publicIds({ kind: "usr", keys: [key] }) });
// @ts-expect-error: short texts have no prefix
defineId("order", { public: orders });
export const either: PublicIds[] = [users, orders];
export const keys: PublicKey[] = [key, Buffer.alloc(16)];
export const slots: ShortKey[] = keys.map((key, slot) => ({ slot, key }));
export const options: [SealedOptions, ShortOptions] = [
  { kind: "user", keys, layout: undefined },
  { kind: "user", keys: slots, form: "short", layout: "twitter" },
];

// A variable of the environment may be missing, which is refused at run time.
publicIds({ kind: "user", keys: [process.env["ID_KEY"]] });
publicIds({ kind: "user", form: "short", keys: [{ slot: 0, key: process.env["ID_KEY"] }] });
// @ts-expect-error: null is no key
publicIds({ kind: "user", keys: [null] });
// @ts-expect-error: short texts name their key
publicIds({ kind: "user", form: "short", keys: [key] });
// @ts-expect-error: sealed texts do not
publicIds({ kind: "user", keys: [{ slot: 0, key }] });
// @ts-expect-error: there is no default kind
publicIds({ keys: [key] });
// @ts-expect-error: there is no default key
publicIds({ kind: "user" });
// @ts-expect-error: there is no such layout
publicIds({ kind: "user", keys: [key], layout: "twitte" });
// @ts-expect-error: it cannot be changed
users.kind = "user";
