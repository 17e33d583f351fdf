import { type IdInput } from "./id.js";
export { ConfigError, DecodeError, type ErrorCode, FrazilError } from "./errors.js";
export type { IdInput } from "./id.js";
type HostResponse = typeof globalThis extends {
    Response: infer R;
} ? R : unknown;
/** A `Response` of the host. */
export type JsonResponse = HostResponse extends {
    prototype: infer R;
} ? R : unknown;
/** The second argument of `new Response`. */
export type JsonResponseInit = HostResponse extends abstract new (body: null, init?: infer I) => unknown ? I : never;
/** A value that has a JSON text: `undefined`, functions and symbols have none. */
export type JsonInput<T> = T extends undefined | symbol | ((...args: never[]) => unknown) ? never : T;
/** What becomes of the value of a key that `readIds` reads. */
type IdsIn<V> = V extends null | undefined ? V : V extends readonly (infer E)[] ? IdsIn<E>[] : bigint;
/** The type of a value after `readIds` with the keys `K`. */
export type WithIds<T, K extends string> = T extends Date | ArrayBufferView | ((...args: never[]) => unknown) ? T : T extends object ? {
    [P in keyof T]: P extends K ? IdsIn<T[P]> : WithIds<T[P], K>;
} : T;
/**
 * The second argument of `JSON.stringify`: a `bigint` is written as decimal text, and everything else as JSON writes it. A
 * `BigInt.prototype.toJSON` that rounds to a number has no effect.
 */
export declare function jsonReplacer(this: unknown, key: string, value: unknown): unknown;
/**
 * A response with the JSON text of a value, as `Response.json` makes it, which throws for a `bigint`.
 *
 * @throws {ConfigError} `INVALID_ARGUMENT` if the value has no JSON text.
 */
export declare function json<T>(value: JsonInput<T>, init?: JsonResponseInit): JsonResponse;
/**
 * The same value, with the IDs under these keys as `bigint`, at any depth, also those in an array: of parsed JSON, of a
 * message, or of rows from a database. `null` and `undefined` stay as they are. The value does not change: an object with an
 * ID in it is copied to a plain object.
 *
 * @throws {ConfigError} `INVALID_ARGUMENT` if a key is not a string, or if there is none.
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
