// The types of `frazil/typed`.
import { type Id, Snowflake } from "frazil";
import { readIds } from "frazil/transport";
import {
  type AnyId,
  anyId,
  type CodecContext,
  type DecodeError,
  defineId,
  type ErrorCode,
  type IdMaker,
  type IdOf,
  type IdOptions,
  type IdType,
  type PublicForm,
  type SafeResult,
  type TextSchema,
  type TypedText,
} from "frazil/typed";
import { check, type Equal } from "./equal.js";

const ids = new Snowflake({ node: 7 });
const UserId = defineId("usr", { ids });
const OrgId = defineId("org");
type UserId = IdOf<typeof UserId>;
type OrgId = IdOf<typeof OrgId>;

check<Equal<typeof UserId, IdMaker<"usr">>>();
check<Equal<typeof OrgId, IdType<"org">>>();
check<Equal<UserId, Id<"usr">>>();
check<Equal<ReturnType<typeof UserId.next>, UserId>>();
check<Equal<ReturnType<typeof UserId.format>, `usr_${string}`>>();
check<Equal<ReturnType<typeof UserId.safeParse>, SafeResult<UserId>>>();
check<Equal<ReturnType<typeof UserId.toDriver>, string>>();
check<Equal<typeof UserId.jsonSchema, TextSchema>>();

const user: UserId = UserId.next();
const number: bigint = user;
const text: `usr_${string}` = UserId.format(user);
export const same: UserId = UserId.parse(text);
export const read: UserId = UserId.fromDriver("5");
export const nullable: UserId | null = UserId.from(null as bigint | null);
export const bound: string | null = UserId.to(null as UserId | null);
export const code = (error: DecodeError): ErrorCode => error.code;
const unknown: unknown = text;
if (UserId.is(unknown)) check<Equal<typeof unknown, TypedText<"usr">>>();
const result = UserId.safeParse(5);
if (result.success) check<Equal<typeof result.data, UserId>>();
else check<Equal<typeof result.error, DecodeError>>();

// @ts-expect-error: an ID of another type
OrgId.format(user);
// @ts-expect-error: a plain bigint has no type
UserId.format(number);
// @ts-expect-error: another type
const org: OrgId = user;
// @ts-expect-error: without a generator there are no new IDs
OrgId.next();
// @ts-expect-error: a text of another type
const wrong: `org_${string}` = text;
// @ts-expect-error: a bigint is no text
UserId.parse(5n);
// @ts-expect-error: an unknown option
defineId("usr", { layot: "twitter" });
// @ts-expect-error: an unknown layout
defineId("usr", { layout: "twiter" });
// @ts-expect-error: a generator has a layout
defineId("usr", { ids: { next: () => 5n } });
// @ts-expect-error: it does not change
UserId.prefix = "org";
// @ts-expect-error: the members are bound, and not replaced
UserId.parse = OrgId.parse;

// A kind that exists already.
const Account = defineId<"acc", "account">("acc", { ids });
export const account: Id<"account"> = Account.next();
export const accountText: `acc_${string}` = Account.format(account);

const any = anyId(UserId, OrgId);
check<Equal<typeof any, AnyId<IdMaker<"usr"> | IdType<"org">>>>();
const found = any.parse(text);
if (found.prefix === "usr") check<Equal<typeof found.id, UserId>>();
else check<Equal<typeof found.id, OrgId>>();
// @ts-expect-error: no such type
export const isPost = found.prefix === "post";
// @ts-expect-error: not a type of IDs
anyId(ids);

// `readIds` keeps what its caller knows.
export const rows: { id: bigint }[] = readIds([{ id: "5" }], "id");

/** The options of a program that may have no generator: also with `exactOptionalPropertyTypes`. */
export function typeOf(
  ids: Snowflake | undefined,
  sealed?: PublicForm & { kind: "usr"; form: "sealed" },
): IdType<"usr"> {
  const options: IdOptions<"usr"> = { ids, public: sealed };
  return defineId("usr", options);
}
const context: CodecContext = { issues: [] };
export const decoded: UserId = UserId.decode(text, context);
export { org, wrong };
