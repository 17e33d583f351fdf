import { type Id, type IdInput, type IdText } from "../layout/id.js";
export { ConfigError, DecodeError, type ErrorCode, FrazilError } from "../base/errors.js";
export type { Id, IdInput, IdText } from "../layout/id.js";
type HostResponse = typeof globalThis extends {
    Response: infer R;
} ? R : unknown;
/** A `Response` of the host. */
export type JsonResponse = HostResponse extends {
    prototype: infer R;
} ? R : unknown;
/** The second argument of `new Response`. */
export type JsonResponseInit = HostResponse extends abstract new (body: null, init?: infer I) => unknown ? I : never;
type AnyFunction = (...args: never[]) => unknown;
/** A value that has a JSON text: `undefined`, functions and symbols have none. */
export type JsonInput<T> = T extends undefined | symbol | AnyFunction ? never : T;
/** What `readIds` returns as it is, whatever the keys. */
type NotEntered = AnyFunction | Date | ArrayBufferView | ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>;
/** What becomes of the value of a key that `readIds` reads. */
type IdsIn<V> = unknown extends V ? V : V extends null | undefined ? V : V extends readonly (infer E)[] ? V extends unknown[] ? IdsIn<E>[] : readonly IdsIn<E>[] : V extends IdText<infer Kind> ? Id<Kind> : V extends IdInput ? bigint : never;
/** `T` with the IDs in it. A key that is only known to be a string may be one of `K`. */
type Read<T, K> = {
    [P in keyof T]: P extends K ? IdsIn<T[P]> : string extends P ? IdsIn<T[P]> : T[P] extends NotEntered ? T[P] : Read<T[P], K>;
};
/** The type of a value after `readIds` with the keys `K`: `T` itself if it has no ID to read, or else a copy without methods. */
export type WithIds<T, K extends string> = T extends NotEntered ? T : T extends object ? T extends Read<T, K> ? T : T extends readonly unknown[] ? {
    [P in keyof T]: WithIds<T[P], K>;
} : {
    [P in keyof T as T[P] extends AnyFunction ? never : P]: P extends K ? IdsIn<T[P]> : WithIds<T[P], K> | (string extends P ? IdsIn<T[P]> : never);
} : T;
/**
 * The second argument of `JSON.stringify`: a `bigint` is written as decimal text, also one in an object (`Object(1n)`), and
 * everything else as JSON writes it. A `BigInt.prototype.toJSON` has no effect, whatever it returns; where there is one, a getter is
 * called twice.
 */
export declare function jsonReplacer(this: unknown, key: string, value: unknown): unknown;
/**
 * A response with the JSON text of a value, as `Response.json` makes it, which throws for a `bigint`.
 *
 * @throws {ConfigError} `INVALID_ARGUMENT` if the value has no JSON text (`undefined`, a function, a symbol, a cycle, or more
 *   depth than `JSON.stringify` has), or if the host makes no response with a body of `init` (`status: 204`). The `cause` is what
 *   `JSON.stringify`, a function that it calls, or `Response` threw.
 */
export declare function json<T>(value: JsonInput<T>, init?: JsonResponseInit): JsonResponse;
/**
 * The same value, with the IDs under these keys as `bigint`, at any depth, also those in an array: of parsed JSON, of a
 * message, or of rows from a database. `null` and `undefined` stay as they are, and a key may be absent: where exactly one ID
 * must be, use `layout.parse(value.id)`.
 *
 * The value does not change. An object or array in which an ID becomes a `bigint` is copied, to a plain one without methods,
 * and once, even if it is in several places or in itself. Everything else is returned as it is. Bytes, `Map`, `Set` and boxed
 * texts are not entered.
 *
 * @throws {ConfigError} `INVALID_ARGUMENT` if a key is not a string, or if there is none; if an array has holes, since a message of a
 *   few bytes may have an array of 2^32; if the value cannot be read, with what a getter threw as the `cause`.
 * @throws {DecodeError} `INVALID_ID` if a value under these keys is not exactly an ID from 0 to 2^64 - 1, with the key as
 *   `field`; in an array also with the `index`. A number above 2^53 is refused, because it has lost digits.
 */
export declare function readIds<T, K extends string>(value: T, ...keys: [K, ...K[]]): WithIds<T, K>;
/**
 * The text to bind for a column of signed 64 bits: `INTEGER` of SQLite and D1, `BIGINT` of other databases.
 *
 * @throws {DecodeError} `INVALID_ID` if the value is not exactly an ID from 0 to 2^63 - 1.
 */
export declare function toSql(id: IdInput): string;
