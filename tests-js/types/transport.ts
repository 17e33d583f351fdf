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
check<Equal<(typeof read)[number]["tags"], bigint[]>>();
check<Equal<(typeof read)[number]["at"], Date>>();
type Author = Exclude<(typeof read)[number]["author"], undefined>;
check<Equal<Author, { readonly id: bigint | null; name: string }>>();
check<Equal<WithIds<{ id: string }, "id">, { id: bigint }>>();
check<Equal<WithIds<unknown, "id">, unknown>>();
readIds(JSON.parse(text), "id").id;
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
