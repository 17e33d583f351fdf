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
 * The second argument of `JSON.parse`: the values of these keys, at any depth, become `bigint`, also those in an array.
 * `null` stays `null`.
 *
 * @throws {ConfigError} `INVALID_ARGUMENT` if a key is not a string, or if there is none.
 * @throws {DecodeError} `INVALID_ID` when `JSON.parse` meets a value that is not exactly an ID from 0 to 2^64 - 1, with the
 *   key as `field`; in an array also with the `index`. A number above 2^53 is one: its digits are lost.
 */
export declare function idReviver(...keys: [string, ...string[]]): (key: string, value: unknown) => unknown;
/**
 * The text to bind for a column of signed 64 bits: `INTEGER` of SQLite and D1, `BIGINT` of other databases.
 *
 * @throws {DecodeError} `INVALID_ID` if the value is not exactly an ID from 0 to 2^63 - 1.
 */
export declare function toSql(id: IdInput): string;
/**
 * The ID in a column that was read as text (`CAST(id AS TEXT)`) or as a `bigint`.
 *
 * @throws {DecodeError} `INVALID_ID` if the value is not exactly an ID from 0 to 2^63 - 1. A number above 2^53 is one: the
 *   driver has rounded it. So are `NULL`, text of a real number, and the negative numbers that `layout.fromSigned` reads.
 */
export declare const fromSql: (value: unknown) => bigint;
