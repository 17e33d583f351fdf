/**
 * IDs on their way through JSON and SQL, exactly. It uses no WebAssembly and no native code. It knows no layouts.
 *
 * ```js
 * import { json, jsonReplacer, readIds, toSql } from "frazil/transport";
 *
 * const text = JSON.stringify({ id: 1541815603606036480n }, jsonReplacer); // '{"id":"1541815603606036480"}'
 * readIds(JSON.parse(text), "id"); // { id: 1541815603606036480n }
 * json({ id: 1541815603606036480n }); // a Response, where Response.json throws
 * await db.prepare("INSERT INTO links (id) VALUES (?)").bind(toSql(1541815603606036480n)).run();
 * const { results } = await db.prepare("SELECT CAST(id AS TEXT) AS id FROM links").all();
 * readIds(results, "id"); // [{ id: 1541815603606036480n }]
 * ```
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

/** What becomes of the value of a key that `readIds` reads. */
type IdsIn<V> = V extends null | undefined ? V : V extends readonly (infer E)[] ? IdsIn<E>[] : bigint;
/** The type of a value after `readIds` with the keys `K`. */
export type WithIds<T, K extends string> = T extends Date | ArrayBufferView | ((...args: never[]) => unknown)
  ? T
  : T extends object
    ? { [P in keyof T]: P extends K ? IdsIn<T[P]> : WithIds<T[P], K> }
    : T;

const SIGNED_ID = { maxId: ANY_ID.maxId >> 1n };

/** The ID as a `bigint`. An error names the field, and says what to do about a rounded number or about anything else. */
function idOf(shape: Pick<Shape, "maxId">, field: string, input: unknown, next = "", details?: ErrorDetails): bigint {
  try {
    return parseId(shape, input as IdInput);
  } catch (error) {
    if (!FrazilError.is(error)) throw error;
    const isRounded = Number.isInteger(input) && !Number.isSafeInteger(input);
    const hint = isRounded
      ? ". A number above 2^53 has lost digits: keep IDs as text, in SQL by CAST(id AS TEXT)"
      : next;
    throw refusal(DecodeError, error.code, field, input, error.rule + hint, 0, 0, details);
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
 * The same value, with the IDs under these keys as `bigint`, at any depth, also those in an array: of parsed JSON, of a
 * message, or of rows from a database. `null` and `undefined` stay as they are. The value does not change: an object with an
 * ID in it is copied to a plain object.
 *
 * @throws {ConfigError} `INVALID_ARGUMENT` if a key is not a string, or if there is none.
 * @throws {DecodeError} `INVALID_ID` if a value under these keys is not exactly an ID from 0 to 2^64 - 1, with the key as
 *   `field`; in an array also with the `index`. A number above 2^53 is refused, because it has lost digits.
 */
export function readIds<T, K extends string>(value: T, ...keys: [K, ...K[]]): WithIds<T, K> {
  const names = new Set<string>(keys);
  if (names.size === 0 || ![...names].every((name) => typeof name === "string")) {
    throw refusal(ConfigError, "INVALID_ARGUMENT", "keys", keys, "must be strings, one at least");
  }
  return copyWith(value, names) as WithIds<T, K>;
}

function copyWith(value: unknown, names: ReadonlySet<string>): unknown {
  // Bytes are left out only because each of them is a key.
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map((each) => copyWith(each, names));
  // From here on only the copy is read: a getter could return something else the second time.
  const copy: Record<string, unknown> = { ...value };
  let isChanged = false;
  for (const key of Object.keys(copy)) {
    const given = copy[key];
    const read = names.has(key) ? idsIn(key, given) : copyWith(given, names);
    if (read === given) continue;
    copy[key] = read;
    isChanged = true;
  }
  return isChanged ? copy : value;
}

function idsIn(field: string, value: unknown): unknown {
  const read = (name: string, input: unknown, details?: ErrorDetails) =>
    input === null || input === undefined ? input : idOf(ANY_ID, name, input, "", details);
  if (!Array.isArray(value)) return read(field, value);
  return value.map((each, index) => read(`${field}[${index}]`, each, { index }));
}

/**
 * The text to bind for a column of signed 64 bits: `INTEGER` of SQLite and D1, `BIGINT` of other databases.
 *
 * @throws {DecodeError} `INVALID_ID` if the value is not exactly an ID from 0 to 2^63 - 1.
 */
export function toSql(id: IdInput): string {
  const exact = idOf(ANY_ID, "id", id);
  return `${idOf(SIGNED_ID, "id", exact, ": bind layout.toSigned(id) as text")}`;
}
