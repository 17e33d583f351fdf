/**
 * Exact IDs through JSON and SQL. It uses no WebAssembly, no native code and no layouts.
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
import { ConfigError, DecodeError, type ErrorDetails, FrazilError, refusal } from "../base/errors.js";
import { putOwn } from "../base/own-properties.js";
import { ANY_ID, type Id, type IdInput, type IdText, parseId } from "../layout/id.js";
import type { Shape } from "../layout/shape.js";

export { ConfigError, DecodeError, type ErrorCode, FrazilError } from "../base/errors.js";
export type { Id, IdInput, IdText } from "../layout/id.js";

// The host's, so the declarations compile with the types of a browser, Node or Workers, or with none.
type HostResponse = typeof globalThis extends { Response: infer R } ? R : unknown;
/** A `Response` of the host. */
export type JsonResponse = HostResponse extends { prototype: infer R } ? R : unknown;
/** The second argument of `new Response`. */
export type JsonResponseInit = HostResponse extends abstract new (body: null, init?: infer I) => unknown ? I : never;
type AnyFunction = (...args: never[]) => unknown;
/** A value with a JSON text: `undefined`, functions and symbols have none. */
export type JsonInput<T> = T extends undefined | symbol | AnyFunction ? never : T;

/** The values that `readIds` returns as they are, whatever the keys. */
type NotEntered = AnyFunction | Date | ArrayBufferView | ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>;
/** The type of a value under a key that `readIds` reads. */
type IdsIn<V> = unknown extends V
  ? V
  : V extends null | undefined
    ? V
    : V extends readonly (infer E)[]
      ? V extends unknown[]
        ? IdsIn<E>[]
        : readonly IdsIn<E>[]
      : V extends IdText<infer Kind>
        ? Id<Kind>
        : V extends IdInput
          ? bigint
          : never;
/** `T` with the IDs in it. A key that is only known to be a string may be one of `K`. */
type Read<T, K> = {
  [P in keyof T]: P extends K
    ? IdsIn<T[P]>
    : string extends P
      ? IdsIn<T[P]>
      : T[P] extends NotEntered
        ? T[P]
        : Read<T[P], K>;
};
/** The type of a value after `readIds` with the keys `K`: `T` itself if it has no ID to read, or else a copy without methods. */
export type WithIds<T, K extends string> = T extends NotEntered
  ? T
  : T extends object
    ? T extends Read<T, K>
      ? T
      : T extends readonly unknown[]
        ? { [P in keyof T]: WithIds<T[P], K> }
        : {
            [P in keyof T as T[P] extends AnyFunction ? never : P]: P extends K
              ? IdsIn<T[P]>
              : WithIds<T[P], K> | (string extends P ? IdsIn<T[P]> : never);
          }
    : T;

const SIGNED_ID = { maxId: ANY_ID.maxId >> 1n };

/** The ID as a `bigint`. An error names the field, and says what to do about a rounded number or about anything else. */
function idOf(shape: Pick<Shape, "maxId">, field: string, input: unknown, next = "", details?: ErrorDetails): bigint {
  try {
    return parseId(shape, input as IdInput);
  } catch (error) {
    if (!FrazilError.is(error)) throw error;
    const isRounded = Number.isInteger(input) && !Number.isSafeInteger(input);
    const hint = isRounded ? `${error.hint} In SQL: CAST(id AS TEXT).` : (error.hint ?? next);
    throw refusal(DecodeError, error.code, field, input, `${error.rule}\n${hint}`, 0, 0, details);
  }
}

/** The text of a `bigint`, boxed or not, of any realm. */
function textOf(value: unknown): string | undefined {
  try {
    if ((value as { [Symbol.toStringTag]: unknown })[Symbol.toStringTag] === "BigInt")
      return BigInt.prototype.toString.call(value);
  } catch {
    // `null`, and what only looks like one. JSON decides what becomes of those.
  }
  return undefined;
}

/**
 * The second argument of `JSON.stringify`: a `bigint` is written as decimal text, even a boxed one (`Object(1n)`), and everything else as
 * JSON writes it. A `BigInt.prototype.toJSON` has no effect on the result; if there is one, a getter is called twice.
 */
export function jsonReplacer(this: unknown, key: string, value: unknown): unknown {
  // JSON has already called that, and the holder has the value from before. Without it `value` may come from another replacer.
  const before = "toJSON" in BigInt.prototype ? (this as Record<string, unknown> | undefined)?.[key] : value;
  return textOf(before) ?? textOf(value) ?? value;
}

/** The result of a call. If it throws or returns `undefined`, its input is refused. */
function resultOf<R>(field: string, given: unknown, rule: string, call: () => R | undefined): R {
  let cause: unknown;
  try {
    const result = call();
    if (result !== undefined) return result;
  } catch (error) {
    cause = error;
  }
  throw refusal(ConfigError, "INVALID_ARGUMENT", field, given, rule, 0, 0, { cause });
}

/**
 * A response with the JSON text of a value, as `Response.json` makes it, which throws for a `bigint`.
 *
 * @throws {ConfigError} `INVALID_ARGUMENT` if the value has no JSON text (`undefined`, a function, a symbol, a cycle, or more
 *   depth than `JSON.stringify` has), or if the host allows no body for `init` (`status: 204`). The `cause` is the error of
 *   `JSON.stringify`, a function that it calls, or `Response`.
 */
export function json<T>(value: JsonInput<T>, init?: JsonResponseInit): JsonResponse {
  const rule = "must be a value that has a JSON text, such as null, without a cycle, and not too deep";
  const text = resultOf("value", value, rule, () => JSON.stringify(value, jsonReplacer));
  // Bytes, because the host gives a text a content type, and then it is unknown whether `init` had one.
  return resultOf("init", init, "must fit a response with a body\nWithout a body: new Response(null, init).", () => {
    const response = new Response(new TextEncoder().encode(text), init as ResponseInit);
    if (!response.headers.has("content-type")) response.headers.set("content-type", "application/json");
    return response as JsonResponse;
  });
}

/**
 * The same value, with the IDs under these keys as `bigint`, at any depth and in arrays: for parsed JSON, messages, or rows from a
 * database. `null` and `undefined` stay as they are, and a key may be absent: where exactly one ID is required, use
 * `layout.parse(value.id)`.
 *
 * The value does not change. An object or array in which an ID becomes a `bigint` is copied to a plain one without methods. It is copied
 * once, even if it is in several places or in itself. Everything else is returned as it is. Bytes, `Map`, `Set` and boxed texts are not
 * entered.
 *
 * @throws {ConfigError} `INVALID_ARGUMENT` if the value is a string, or cannot be read, with the error of a getter as the `cause`. Also if
 * a key is missing or not a string, or if an array has holes: a message of a few bytes may have an array of 2^32.
 * @throws {DecodeError} `INVALID_ID` if a value under these keys is not exactly an ID from 0 to 2^64 - 1, with the key as `field`, and in
 * an array the `index`. A number above 2^53 is refused, because it has lost digits.
 */
export function readIds<T, K extends string>(value: T, ...keys: [K, ...K[]]): WithIds<T, K> {
  const names = new Set<string>(keys);
  if (!keys.length || keys.some((key) => typeof key !== "string")) {
    throw refusal(ConfigError, "INVALID_ARGUMENT", "keys", keys, "must be at least one string");
  }
  if (typeof value === "string")
    throw refusal(ConfigError, "INVALID_ARGUMENT", "value", undefined, TEXT_OF_JSON, 0, 0, {}, "a string");
  return withIds(value, names) as WithIds<T, K>;
}

/** Its text is not in the error, because it may hold secrets. */
const TEXT_OF_JSON = "must be parsed JSON\nPass JSON.parse(text).";

/** An object or array in the value. */
interface Found {
  readonly copy: Record<string | number, unknown>;
  /** Where it is in the others. */
  readonly places: [holder: Found, key: string | number][];
}

function withIds(root: unknown, names: ReadonlySet<unknown>): unknown {
  // Lists that grow while they are read, instead of recursion. A value may be as deep as memory allows, contain itself, or have one object
  // in too many places to visit each.
  const found = new Map<unknown, Found>();
  const changed = new Set<Found>();
  const find = (value: unknown) => {
    // Bytes are left out only because each of them is a key.
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return undefined;
    let each = found.get(value);
    if (each) return each;
    // From here on, only the copy is read: a getter could return something else the second time.
    const copy = resultOf<object>("value", root, "must be a value that can be read, without holes", () => {
      // Each character would be a key.
      if (value instanceof String) return {};
      if (!Array.isArray(value)) return { ...value };
      const list: unknown[] = [];
      // No iterator, because the array may have its own.
      for (let index = 0; index < value.length; index++) {
        // A message of a few bytes may have an array with 2^32 of them.
        if (!(index in value)) return undefined;
        putOwn(list, index, value[index]);
      }
      return list;
    });
    each = { copy: copy as Found["copy"], places: [] };
    found.set(value, each);
    return each;
  };
  const change = (each: Found, key: string | number, value: unknown) => {
    each.copy[key] = value;
    changed.add(each);
  };
  const idIn = (field: string, input: unknown, details?: ErrorDetails) =>
    input === null || input === undefined ? input : idOf(ANY_ID, field, input, "", details);
  const top = find(root);
  for (const each of found.values()) {
    const { copy } = each;
    for (const key of Array.isArray(copy) ? copy.keys() : Object.keys(copy)) {
      const given = copy[key];
      const inner = find(given);
      const list = inner?.copy;
      if (!names.has(key)) inner && putOwn(inner.places, inner.places.length, [each, key]);
      else if (Array.isArray(list)) {
        const ids = list.map((element, index) => idIn(`${key}[${index}]`, element, { index }));
        if (ids.some((id, index) => id !== list[index])) change(each, key, ids);
      } else {
        const id = idIn(key as string, given);
        if (id !== given) change(each, key, id);
      }
    }
  }
  for (const each of changed) {
    for (const [holder, key] of each.places) change(holder, key, each.copy);
  }
  return top && changed.has(top) ? top.copy : root;
}

/**
 * The text to bind for a column of signed 64 bits: `INTEGER` of SQLite and D1, `BIGINT` of other databases.
 *
 * @throws {DecodeError} `INVALID_ID` if the value is not exactly an ID from 0 to 2^63 - 1.
 */
export function toSql(id: IdInput): string {
  const exact = idOf(ANY_ID, "id", id);
  return `${idOf(SIGNED_ID, "id", exact, "Bind layout.toSigned(id) as text.")}`;
}
