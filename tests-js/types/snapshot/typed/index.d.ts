import { DecodeError } from "../base/errors.js";
import type { Id, LayoutName } from "../layout/id.js";
import type { FixedForm } from "../text/index.js";
export { ConfigError, DecodeError, type ErrorCode, FrazilError } from "../base/errors.js";
export type { Id, IdInput, LayoutName } from "../layout/id.js";
export type { FixedForm } from "../text/index.js";
export interface LayoutFields {
    readonly fields: readonly {
        readonly bits: number;
    }[];
}
export interface IdSource {
    next(): bigint;
    readonly layout: LayoutFields;
}
export interface PublicForm {
    readonly kind: string;
    readonly form: string;
    readonly layout: LayoutName | LayoutFields;
    encode(id: bigint): string;
    decode(text: string): bigint;
}
export interface IdOptions<P extends string = string> {
    readonly ids?: IdSource | undefined;
    readonly layout?: LayoutName | LayoutFields | undefined;
    readonly form?: FixedForm | undefined;
    readonly public?: (PublicForm & {
        readonly kind: P;
        readonly form: "sealed";
    }) | undefined;
}
type Given<P extends string> = [P][P extends string ? 0 : never];
export type TypedText<P extends string = string> = `${P}_${string}`;
export type IdOf<T extends {
    readonly parse: (text: string) => unknown;
}> = ReturnType<T["parse"]>;
export type SafeResult<T> = {
    readonly success: true;
    readonly data: T;
} | {
    readonly success: false;
    readonly error: DecodeError;
};
export interface TextSchema {
    readonly type: "string";
    readonly pattern: string;
}
export interface CodecContext {
    readonly issues: unknown[];
}
export interface StandardProps<Text, T> {
    readonly version: 1;
    readonly vendor: "frazil";
    readonly types?: {
        readonly input: Text;
        readonly output: T;
    } | undefined;
    readonly validate: (value: unknown) => {
        readonly value: T;
        readonly issues?: undefined;
    } | {
        readonly issues: readonly {
            readonly message: string;
        }[];
    };
    readonly jsonSchema: {
        readonly input: (options?: unknown) => Record<string, unknown>;
        readonly output: (options?: unknown) => Record<string, unknown>;
    };
}
export interface IdReader<Text extends string, T> {
    readonly parse: (text: string) => T;
    readonly is: (value: unknown) => value is Text;
    readonly safeParse: (value: unknown) => SafeResult<T>;
    readonly decode: (text: string, context?: CodecContext) => T;
    readonly jsonSchema: TextSchema;
    readonly "~standard": StandardProps<Text, T>;
}
export interface IdType<P extends string = string, K extends string = P> extends IdReader<TypedText<P>, Id<K>> {
    readonly prefix: P;
    readonly format: (id: Id<K>) => TypedText<P>;
    readonly encode: (id: Id<K>, context?: CodecContext) => TypedText<P>;
    readonly toDriver: (id: Id<K>) => string;
    readonly fromDriver: (value: unknown) => Id<K>;
    readonly to: <T extends Id<K> | null | undefined>(id: T) => string | Exclude<T, bigint>;
    readonly from: <T>(value: T) => Id<K> | Extract<T, null | undefined>;
    readonly serialize: (id: unknown) => TypedText<P>;
    readonly parseValue: (text: unknown) => Id<K>;
}
export interface IdMaker<P extends string = string, K extends string = P> extends IdType<P, K> {
    readonly next: () => Id<K>;
}
export type AnyIdType = Pick<IdType, "prefix" | "parse" | "jsonSchema">;
export type AnyOf<T extends AnyIdType> = T extends AnyIdType ? {
    readonly prefix: T["prefix"];
    readonly id: IdOf<T>;
} : never;
export interface AnyId<T extends AnyIdType> extends IdReader<TypedText<T["prefix"]>, AnyOf<T>> {
    readonly reviver: (...keys: string[]) => (key: string, value: unknown) => unknown;
}
export declare function defineId<const P extends string, K extends string = P>(prefix: P, options: IdOptions<Given<P>> & {
    readonly ids: IdSource;
}): IdMaker<P, K>;
export declare function defineId<const P extends string, K extends string = P>(prefix: P, options?: IdOptions<Given<P>>): IdType<P, K>;
export declare function anyId<const T extends readonly AnyIdType[]>(...types: T): AnyId<T[number]>;
