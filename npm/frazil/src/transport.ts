/**
 * IDs on their way through JSON and SQL, exactly. It uses no WebAssembly and no native code. It knows no layouts.
 *
 * ```js
 * import { fromSql, idReviver, json, jsonReplacer, toSql } from "frazil/transport";
 *
 * const text = JSON.stringify({ id: 1541815603606036480n }, jsonReplacer); // '{"id":"1541815603606036480"}'
 * JSON.parse(text, idReviver("id")); // { id: 1541815603606036480n }
 * json({ id: 1541815603606036480n }); // a Response, where Response.json throws
 * await db.prepare("INSERT INTO links (id) VALUES (?)").bind(toSql(id)).run();
 * fromSql(await db.prepare("SELECT CAST(id AS TEXT) AS id FROM links").first("id")); // 1541815603606036480n
 * ```
 *
 * It does not look for IDs: everything that is not named or passed stays as it is.
 */
import { ConfigError, DecodeError, type ErrorDetails, FrazilError, refusal } from "./errors.js";
import { ANY_ID, type IdInput, parseId, type Shape } from "./id.js";

export { ConfigError, DecodeError, type ErrorCode, FrazilError } from "./errors.js";
export type { IdInput } from "./id.js";

// Of the host, so that the declarations compile with the types of a browser, of Node and of Workers, and without any.
type HostResponse = typeof globalThis extends { Response: infer R } ? R : unknown;
/** A `Response` of the host. */
export type JsonResponse = HostResponse extends { prototype: infer R } ? R : unknown;
/** The second argument of `new Response`. */
export type JsonResponseInit = HostResponse extends abstract new (body: null, init?: infer I) => unknown ? I : never;
/** A value that has a JSON text: `undefined`, functions and symbols have none. */
export type JsonInput<T> = T extends undefined | symbol | ((...args: never[]) => unknown) ? never : T;

const SIGNED_ID = { maxId: ANY_ID.maxId >> 1n };

/** The ID as a `bigint`. An error names the field, and says what to do about a number or about anything else. */
function idOf(
  shape: Pick<Shape, "maxId">,
  field: string,
  input: unknown,
  ifNumber: string,
  otherwise = "",
  details?: ErrorDetails,
): bigint {
  try {
    return parseId(shape, input as IdInput);
  } catch (error) {
    if (!FrazilError.is(error)) throw error;
    const isLossy = typeof input === "number" && !Number.isSafeInteger(input);
    const next = isLossy ? `: a number above 2^53 has lost digits, so ${ifNumber}` : otherwise;
    throw refusal(DecodeError, error.code, field, input, error.rule + next, 0, 0, details);
  }
}

/**
 * The second argument of `JSON.stringify`: a `bigint` is written as decimal text, and everything else as JSON writes it. A
 * `BigInt.prototype.toJSON` that rounds to a number has no effect.
 */
export function jsonReplacer(this: unknown, key: string, value: unknown): unknown {
  // JSON has called `toJSON` already. The holder has the value from before.
  const given = typeof value === "number" ? (this as Record<string, unknown> | undefined)?.[key] : value;
  return typeof given === "bigint" ? `${given}` : value;
}

/**
 * A response with the JSON text of a value, as `Response.json` makes it, which throws for a `bigint`.
 *
 * @throws {ConfigError} `INVALID_ARGUMENT` if the value has no JSON text.
 */
export function json<T>(value: JsonInput<T>, init?: JsonResponseInit): JsonResponse {
  const text = JSON.stringify(value, jsonReplacer);
  if (text === undefined) {
    throw refusal(
      ConfigError,
      "INVALID_ARGUMENT",
      "value",
      value,
      "must be a value that has a JSON text, such as null",
    );
  }
  // Bytes, because the host gives a text a content type of its own, and then nobody knows whether `init` had one.
  const response = new Response(new TextEncoder().encode(text), init as ResponseInit);
  if (!response.headers.has("content-type")) response.headers.set("content-type", "application/json");
  return response as JsonResponse;
}

/**
 * The second argument of `JSON.parse`: the values of these keys, at any depth, become `bigint`, also those in an array.
 * `null` stays `null`.
 *
 * @throws {ConfigError} `INVALID_ARGUMENT` if a key is not a string, or if there is none.
 * @throws {DecodeError} `INVALID_ID` when `JSON.parse` meets a value that is not exactly an ID from 0 to 2^64 - 1, with the
 *   key as `field`; in an array also with the `index`. A number above 2^53 is one: its digits are lost.
 */
export function idReviver(...keys: [string, ...string[]]): (key: string, value: unknown) => unknown {
  const names = new Set<unknown>(keys);
  if (![...names].every((name) => typeof name === "string") || names.size === 0) {
    throw refusal(ConfigError, "INVALID_ARGUMENT", "keys", keys, "must be strings, one at least");
  }
  const read = (field: string, value: unknown, details?: ErrorDetails) =>
    value === null ? null : idOf(ANY_ID, field, value, "send text", "", details);
  return (key, value) => {
    if (!names.has(key)) return value;
    if (!Array.isArray(value)) return read(key, value);
    return value.map((each, index) => read(`${key}[${index}]`, each, { index }));
  };
}

/**
 * The text to bind for a column of signed 64 bits: `INTEGER` of SQLite and D1, `BIGINT` of other databases.
 *
 * @throws {DecodeError} `INVALID_ID` if the value is not exactly an ID from 0 to 2^63 - 1.
 */
export function toSql(id: IdInput): string {
  const exact = idOf(ANY_ID, "id", id, "keep IDs as bigint or text");
  return `${idOf(SIGNED_ID, "id", exact, "", ": bind layout.toSigned(id) as text")}`;
}

/**
 * The ID in a column that was read as text (`CAST(id AS TEXT)`) or as a `bigint`.
 *
 * @throws {DecodeError} `INVALID_ID` if the value is not exactly an ID from 0 to 2^63 - 1. A number above 2^53 is one: the
 *   driver has rounded it. So are `NULL`, text of a real number, and the negative numbers that `layout.fromSigned` reads.
 */
export const fromSql = (value: unknown): bigint => idOf(SIGNED_ID, "id", value, "select CAST(id AS TEXT)");
