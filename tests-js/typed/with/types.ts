// The types of `frazil/typed` in those of other packages. `types.test.mjs` compiles it.
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { initTRPC } from "@trpc/server";
import { type } from "arktype";
import { customType } from "drizzle-orm/pg-core";
import type { Id } from "frazil";
import { publicIds } from "frazil/public";
import { anyId, defineId, type IdOf } from "frazil/typed";
import { GraphQLScalarType } from "graphql";
import * as v from "valibot";
import { z } from "zod";

const UserId = defineId("usr");
type UserId = IdOf<typeof UserId>;
const OrgId = defineId("org");
declare const id: UserId;

export const schema: StandardSchemaV1<`usr_${string}`, UserId> = UserId;
export const either: StandardSchemaV1 = anyId(UserId, OrgId);
export const json: StandardJSONSchemaV1<`usr_${string}`, UserId> = UserId;
export const inferred: StandardSchemaV1.InferOutput<typeof UserId> = id;
// @ts-expect-error: another type
export const other: StandardSchemaV1.InferOutput<typeof OrgId> = id;

const codec = z.codec(z.string(), z.custom<UserId>(), UserId);
export const decoded: UserId = z.decode(codec, "usr_1ptWyK4WgZU");
export const encoded: string = z.encode(codec, id);
// @ts-expect-error: another type
export const decodedOther: IdOf<typeof OrgId> = z.decode(codec, "usr_1ptWyK4WgZU");

const pipe = v.pipe(
  v.string(),
  v.check((text) => UserId.is(text)),
  v.transform(UserId.parse),
);
export const piped: Id<"usr"> = v.parse(pipe, "usr_1ptWyK4WgZU");

export const ark = type({ user: UserId });
export const user = (out: typeof ark.infer): UserId => out.user;

const t = initTRPC.create();
export const router = t.router({ user: t.procedure.input(UserId).query(({ input }): UserId => input) });

const { toDriver, fromDriver } = UserId;
export const column = customType<{ data: UserId; driverData: string }>({
  dataType: () => "bigint",
  toDriver,
  fromDriver,
});
export const sealed: typeof UserId = defineId("usr", { public: publicIds({ kind: "usr", keys: ["frazilkey_"] }) });
export const scalar = new GraphQLScalarType({ name: "UserId", ...UserId });
