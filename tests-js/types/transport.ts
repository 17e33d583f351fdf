// The types of `frazil/transport`.
import {
  ConfigError,
  DecodeError,
  type ErrorCode,
  FrazilError,
  fromSql,
  type IdInput,
  idReviver,
  type JsonInput,
  type JsonResponse,
  json,
  jsonReplacer,
  toSql,
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
JSON.parse(text, idReviver("id"));
JSON.parse(text, idReviver("id", "authorId")).id;
check<Equal<Parameters<typeof idReviver>, [string, ...string[]]>>();
// @ts-expect-error: no key is named
idReviver();
// @ts-expect-error: keys are strings, not a list
idReviver(["id"]);

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
check<Equal<typeof fromSql, (value: unknown) => bigint>>();
const ids: bigint[] = [1n, "2", 3].map(toSql).map(fromSql);
// @ts-expect-error: null is no ID
toSql(null);

const code: ErrorCode = "INVALID_ID";

export { ConfigError, code, DecodeError, FrazilError, ids };
