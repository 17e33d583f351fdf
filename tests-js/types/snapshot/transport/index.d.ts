import { type Id, type IdInput, type IdText } from "../layout/id.js";
export { ConfigError, DecodeError, type ErrorCode, FrazilError } from "../base/errors.js";
export type { Id, IdInput, IdText } from "../layout/id.js";
type HostResponse = typeof globalThis extends {
    Response: infer R;
} ? R : unknown;
export type JsonResponse = HostResponse extends {
    prototype: infer R;
} ? R : unknown;
export type JsonResponseInit = HostResponse extends abstract new (body: null, init?: infer I) => unknown ? I : never;
type AnyFunction = (...args: never[]) => unknown;
export type JsonInput<T> = T extends undefined | symbol | AnyFunction ? never : T;
type NotEntered = AnyFunction | Date | ArrayBufferView | ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>;
type IdsIn<V> = unknown extends V ? V : V extends null | undefined ? V : V extends readonly (infer E)[] ? V extends unknown[] ? IdsIn<E>[] : readonly IdsIn<E>[] : V extends IdText<infer Kind> ? Id<Kind> : V extends IdInput ? bigint : never;
type Read<T, K> = {
    [P in keyof T]: P extends K ? IdsIn<T[P]> : string extends P ? IdsIn<T[P]> : T[P] extends NotEntered ? T[P] : Read<T[P], K>;
};
export type WithIds<T, K extends string> = T extends NotEntered ? T : T extends object ? T extends Read<T, K> ? T : T extends readonly unknown[] ? {
    [P in keyof T]: WithIds<T[P], K>;
} : {
    [P in keyof T as T[P] extends AnyFunction ? never : P]: P extends K ? IdsIn<T[P]> : WithIds<T[P], K> | (string extends P ? IdsIn<T[P]> : never);
} : T;
export declare function jsonReplacer(this: unknown, key: string, value: unknown): unknown;
export declare function json<T>(value: JsonInput<T>, init?: JsonResponseInit): JsonResponse;
export declare function readIds<T, K extends string>(value: T, ...keys: [K, ...K[]]): WithIds<T, K>;
export declare function toSql(id: IdInput): string;
