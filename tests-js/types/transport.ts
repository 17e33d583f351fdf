// The types of `frazil/transport`.
import {
  ConfigError,
  DecodeError,
  type ErrorCode,
  FrazilError,
  type IdInput,
  type JsonInput,
  type JsonResponse,
  json,
  jsonReplacer,
  readIds,
  toSql,
  type WithIds,
} from "frazil/transport";
import { check, type Equal } from "./equal.js";

interface Link {
  readonly id: bigint;
  readonly tags?: string[];
}
declare const link: Link;
declare const perhaps: Link | undefined;
declare const something: unknown;

const text: string = JSON.stringify(link, jsonReplacer, 2);

interface Row {
  readonly id: string;
  author?: { readonly id: string | null; name: string } | undefined;
  tags: readonly string[];
  at: Date;
}
declare const rows: readonly Row[];
const read = readIds(rows, "id", "tags");
check<Equal<(typeof read)[number]["id"], bigint>>();
check<Equal<(typeof read)[number]["tags"], readonly bigint[]>>();
check<Equal<(typeof read)[number]["at"], Date>>();
type Author = Exclude<(typeof read)[number]["author"], undefined>;
check<Equal<Author, { readonly id: bigint | null; name: string }>>();
check<Equal<WithIds<{ id: string }, "id">, { id: bigint }>>();
check<Equal<WithIds<unknown, "id">, unknown>>();
readIds(JSON.parse(text), "id").id;

/** With a private member and a method, which a copy would not have. */
class Money {
  readonly #cents = 5n;
  private readonly digits = [5];
  rounded(): number {
    return Number(this.#cents) + this.digits.length;
  }
}
class Order {
  id = "1";
  buyer: { id: string; home: URL } = { id: "2", home: new URL("https://example.com") };
  price = new Money();
  total(): number {
    return 1;
  }
}
const order = readIds(new Order(), "id");
check<Equal<typeof order, { id: bigint; buyer: { id: bigint; home: URL }; price: Money }>>();
// @ts-expect-error: the copy of an object with an ID in it has no methods
order.total();
order.price.rounded();
check<Equal<WithIds<{ order: Order; others: [Money, Order] }, "none">, { order: Order; others: [Money, Order] }>>();
check<Equal<WithIds<[Money, { id: string }], "id">, [Money, { id: bigint }]>>();
check<
  Equal<
    WithIds<{ a: { b: { c: { d: { e: { id?: string | null } } } } } }, "id">["a"]["b"]["c"]["d"]["e"],
    { id?: bigint | null }
  >
>();

interface Comment {
  readonly replies: readonly Comment[];
  readonly by: { id: string };
}
declare const comment: Comment;
check<Equal<WithIds<Comment, "none">, Comment>>();
const by = readIds(comment, "id").replies[0]?.replies[0]?.by;
check<Equal<typeof by, { id: bigint } | undefined>>();

// A value is what it may be: any key may be one of those that are read, and an unknown value may be null or a list.
check<Equal<WithIds<Record<string, string>, "id">, Record<string, string | bigint>>>();
check<Equal<WithIds<Record<string, { id: string }>, "id">, Record<string, { id: bigint }>>>();
check<Equal<WithIds<Record<string, unknown>, "id">, Record<string, unknown>>>();
check<Equal<WithIds<{ id: { a: 1 } | boolean }, "id">, { id: never }>>();
check<Equal<WithIds<{ id: unknown }, "id">, { id: unknown }>>();
// These are not entered.
check<Equal<WithIds<Map<string, { id: string }>, "id" | "size">, Map<string, { id: string }>>>();
check<Equal<WithIds<{ a: ReadonlySet<{ id: string }> }, "id">, { a: ReadonlySet<{ id: string }> }>>();

// @ts-expect-error: the keys that are not named stay as they are
const wrong: bigint = readIds({ id: "1", by: "2" }, "id").by;
// @ts-expect-error: no key is named
readIds(rows);
// @ts-expect-error: keys are strings, not a list
readIds(rows, ["id"]);

check<Equal<JsonResponse, Response>>();
const response: Response = json(link);
json({ id: 5n, links: [link] }, { status: 201, headers: { "x-a": "1" } }).headers.get("content-type");
json(link, response);
json(null);
json("text");
json([link]);
json(something);
check<Equal<JsonInput<Link | undefined>, Link>>();
// @ts-expect-error: undefined has no JSON text
json(undefined);
// @ts-expect-error: it may be undefined
json(perhaps);
// @ts-expect-error: a function has no JSON text
json(() => link);
// @ts-expect-error: a status is a number
json(link, { status: "201" });

check<Equal<typeof toSql, (id: IdInput) => string>>();
const texts: string[] = [1n, "2", 3].map(toSql);
// @ts-expect-error: null is no ID
toSql(null);

const code: ErrorCode = "INVALID_ID";

export { ConfigError, code, DecodeError, FrazilError, read, texts, wrong };
