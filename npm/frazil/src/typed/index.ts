/**
 * Typed IDs: a branded `bigint` in the program, the number in the database, and a text such as `usr_1ptWyK4WgZU` for people, JSON and
 * URLs. One object writes and reads them, and fits schema libraries, ORMs and GraphQL. It uses no WebAssembly and no native code.
 *
 * ```js
 * import { defineId } from "frazil/typed";
 *
 * const UserId = defineId("usr");
 * UserId.format(1541815603606036480n); // "usr_1ptWyK4WgZU"
 * UserId.parse("usr_1ptWyK4WgZU"); // 1541815603606036480n
 * ```
 */
import { ConfigError, DecodeError, type ErrorCode, type FrazilError, show } from "../base/errors.js";
import { ownOf } from "../base/own-properties.js";
import { LAYOUT_BITS } from "../generated/layout-bits.js";
import type { Id, IdInput, LayoutName } from "../layout/id.js";
import type { FixedForm } from "../text/index.js";
import { base62, type Codec } from "./base62.js";

export { ConfigError, DecodeError, type ErrorCode, FrazilError } from "../base/errors.js";
export type { Id, IdInput, LayoutName } from "../layout/id.js";
export type { FixedForm } from "../text/index.js";

/** The part of a layout that the range of its IDs depends on. Each `Layout` has it. */
export interface LayoutFields {
  readonly fields: readonly { readonly bits: number }[];
}

/** A source of IDs: each generator of the package. */
export interface IdSource {
  next(): bigint;
  readonly layout: LayoutFields;
}

/**
 * A form of the program's own that hides the number: 22 characters, sealed with a key. A text that `decode` refuses with another error than
 * `DecodeError` is not told from a fault: `safeParse` throws it.
 */
export interface PublicForm {
  readonly kind: string;
  readonly form: string;
  readonly layout: LayoutName | LayoutFields;
  encode(id: bigint): string;
  decode(text: string): bigint;
}

/** The options of `defineId`. */
export interface IdOptions {
  /** The generator. Without one, IDs are only read and written. */
  readonly ids?: IdSource | undefined;
  /** The layout, which bounds the IDs. Default: that of `ids` or `public`, or else `"default"`. */
  readonly layout?: LayoutName | LayoutFields | undefined;
  /** A form of `frazil/text` whose alphabet has no `_`. Default: base 62. */
  readonly form?: FixedForm | undefined;
  /** A sealed form instead, whose kind is the prefix. */
  readonly public?: PublicForm | undefined;
}

/** The text of a typed ID. */
export type TypedText<P extends string = string> = `${P}_${string}`;

/** The ID that a type of IDs, or several of them, reads: `type UserId = IdOf<typeof UserId>`. */
export type IdOf<T extends { readonly parse: (text: string) => unknown }> = ReturnType<T["parse"]>;

/** The result of `safeParse`. */
export type SafeResult<T> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly error: DecodeError };

/** A schema of typed IDs, for JSON Schema and OpenAPI. */
export interface TextSchema {
  readonly type: "string";
  readonly pattern: string;
}

/** Where a codec of zod collects issues. */
export interface CodecContext {
  readonly issues: unknown[];
}

/** Standard Schema 1.1, with its JSON Schema part. */
export interface StandardProps<Text, T> {
  readonly version: 1;
  readonly vendor: "frazil";
  readonly types?: { readonly input: Text; readonly output: T } | undefined;
  readonly validate: (
    value: unknown,
  ) =>
    | { readonly value: T; readonly issues?: undefined }
    | { readonly issues: readonly { readonly message: string }[] };
  readonly jsonSchema: {
    readonly input: (options?: unknown) => Record<string, unknown>;
    /** Always throws: a `bigint` has no JSON Schema. */
    readonly output: (options?: unknown) => Record<string, unknown>;
  };
}

/** A reader of typed IDs. All methods work detached. */
export interface IdReader<Text extends string, T> {
  /**
   * The ID of a text, which must be exactly as `format` writes it.
   *
   * @throws {DecodeError} `INVALID_TEXT` if the prefix, the length or a digit is wrong. `INVALID_ID` if the layout has no such ID.
   */
  readonly parse: (text: string) => T;
  /** Whether a value is a text that `parse` reads. A `bigint` is none: nothing shows its type. */
  readonly is: (value: unknown) => value is Text;
  /** The ID of a text, or the error that `parse` throws. */
  readonly safeParse: (value: unknown) => SafeResult<T>;
  /** `parse` for `z.codec`: an error becomes an issue of the context. */
  readonly decode: (text: string, context?: CodecContext) => T;
  /** The JSON Schema of the texts. */
  readonly jsonSchema: TextSchema;
  readonly "~standard": StandardProps<Text, T>;
}

/** A type of IDs. All methods work detached. */
export interface IdType<P extends string = string, K extends string = P> extends IdReader<TypedText<P>, Id<K>> {
  readonly prefix: P;
  /**
   * The text of an ID.
   *
   * @throws {DecodeError} `INVALID_ID` if the value is not exactly an ID of the layout.
   */
  readonly format: (id: Id<K>) => TypedText<P>;
  /** `format` for `z.codec`: an error becomes an issue of the context. */
  readonly encode: (id: Id<K>, context?: CodecContext) => TypedText<P>;
  /**
   * The decimal text to bind for a column of signed 64 bits.
   *
   * @throws {DecodeError} `INVALID_ID` if the value is not exactly an ID of the layout below 2^63.
   */
  readonly toDriver: (id: Id<K>) => string;
  /**
   * The ID that a driver returned: a `bigint`, decimal text, or a `number` that is exact.
   *
   * @throws {DecodeError} `INVALID_ID` for anything else. A number above 2^53 - 1 has lost digits.
   */
  readonly fromDriver: (value: unknown) => Id<K>;
  /** `toDriver` for columns that may be null. */
  readonly to: <T extends Id<K> | null | undefined>(id: T) => string | Exclude<T, bigint>;
  /** `fromDriver` for columns that may be null. */
  readonly from: <T>(value: T) => Id<K> | Extract<T, null | undefined>;
  /** `format`, for GraphQL: `new GraphQLScalarType({ name: "UserId", ...UserId })`. */
  readonly serialize: (id: unknown) => TypedText<P>;
  /** `parse`, for GraphQL. */
  readonly parseValue: (text: unknown) => Id<K>;
}

/** A type of IDs that makes new ones. */
export interface IdMaker<P extends string = string, K extends string = P> extends IdType<P, K> {
  /** A new ID, by `next()` of the generator. */
  readonly next: () => Id<K>;
}

/** A type of IDs as `anyId` takes it. */
export type AnyIdType = Pick<IdType, "prefix" | "parse" | "jsonSchema">;

/** An ID of one of several types, with its prefix. */
export type AnyOf<T extends AnyIdType> = T extends AnyIdType
  ? { readonly prefix: T["prefix"]; readonly id: IdOf<T> }
  : never;

/** A reader of several types of IDs. */
export interface AnyId<T extends AnyIdType> extends IdReader<TypedText<T["prefix"]>, AnyOf<T>> {
  /**
   * The second argument of `JSON.parse`: texts under these keys, also in arrays, become `bigint`s. `null` stays.
   *
   * @throws {DecodeError} in `JSON.parse`, as `parse`.
   */
  readonly reviver: (...keys: string[]) => (key: string, value: unknown) => unknown;
}

/** No typed ID is longer: 63 characters of a prefix, `_`, and 64 digits of base 2. Errors have no copy of a longer text. */
const MAX_TEXT = 128;
const MAX_SIGNED = 2n ** 63n - 1n;

/** The error for a value that breaks a rule. */
function refusal(
  Class: typeof FrazilError,
  code: ErrorCode,
  field: string,
  value: unknown,
  rule: string,
  hint = "",
): FrazilError {
  const isLong = typeof value === "string" && value.length > MAX_TEXT;
  const shown = show(isLong ? value.slice(0, MAX_TEXT) : value);
  return new Class(code, `${field} ${rule}, got ${shown}\n${hint}`, { field, rule, ...(!isLong && { value }) });
}

function check(holds: unknown, field: string, value: unknown, rule: string, code: ErrorCode = "INVALID_OPTION"): void {
  if (!holds) throw refusal(ConfigError, code, field, value, rule);
}

const textError = (text: unknown, rule: string) => refusal(DecodeError, "INVALID_TEXT", "text", text, rule);

/** The ID of a `bigint`, decimal text or an exact number. */
function idOf(maxId: bigint, input: unknown): Id {
  const isExact = typeof input === "string" ? /^(0|[1-9]\d{0,19})$/.test(input) : Number.isSafeInteger(input);
  const id = isExact ? BigInt(input as string) : input;
  if (typeof id === "bigint" && id >= 0n && id <= maxId) return id as Id;
  const hint = typeof input === "number" ? "Numbers above 2^53 have lost digits. In SQL: CAST(id AS TEXT)." : "";
  throw refusal(DecodeError, "INVALID_ID", "id", input, `must be an ID from 0 to ${maxId}`, hint);
}

/** An error that refuses a value. Another one, such as that of a full stack, tells nothing of the value, and is thrown. */
function refusalOf(error: unknown): DecodeError {
  if (error instanceof DecodeError) return error;
  throw error;
}

/** The same call, which gives its refusal to the context if there is one. */
const collecting =
  <I, O>(call: (input: I) => O) =>
  (input: I, context?: CodecContext): O => {
    try {
      return call(input);
    } catch (error) {
      if (!context) throw error;
      context.issues.push({ code: "custom", message: refusalOf(error).message, input });
      return undefined as O;
    }
  };

/** The members that readers have in common. */
function reader<Text extends string, T>(parse: (text: string) => T, pattern: string): IdReader<Text, T> {
  const jsonSchema = Object.freeze({ type: "string", pattern } as const);
  const safeParse = (value: unknown): SafeResult<T> => {
    try {
      return { success: true, data: parse(value as string) };
    } catch (error) {
      return { success: false, error: refusalOf(error) };
    }
  };
  return {
    parse,
    is: (value): value is Text => safeParse(value).success,
    safeParse,
    decode: collecting(parse),
    jsonSchema,
    "~standard": Object.freeze({
      version: 1,
      vendor: "frazil",
      validate(value: unknown) {
        const { data, error } = safeParse(value) as { data: T; error?: DecodeError };
        return error ? { issues: [{ message: error.message }] } : { value: data };
      },
      jsonSchema: Object.freeze({
        input: () => ({ ...jsonSchema }),
        output() {
          throw refusal(ConfigError, "INVALID_OPTION", "io", "output", "must be input: a bigint has no JSON Schema");
        },
      }),
    } as const),
  };
}

/** The largest ID of a layout. */
function maxIdOf(layout: LayoutName | LayoutFields): bigint {
  const bits =
    typeof layout === "string" ? LAYOUT_BITS[layout] : layout?.fields?.reduce?.((sum, field) => sum + field?.bits, 0);
  check(Number.isInteger(bits) && bits > 0 && bits < 65, "layout", layout, "must be a layout", "INVALID_LAYOUT");
  return 2n ** BigInt(bits) - 1n;
}

/**
 * A type of IDs. The prefix is that of TypeID: 1 to 63 of the letters a to z and `_`, which is neither first nor last.
 *
 * @throws {ConfigError} `INVALID_OPTION` for another prefix or a wrong option; `INVALID_LAYOUT` for a layout.
 */
export function defineId<const P extends string, K extends string = P>(
  prefix: P,
  options: IdOptions & { readonly ids: IdSource },
): IdMaker<P, K>;
export function defineId<const P extends string, K extends string = P>(prefix: P, options?: IdOptions): IdType<P, K>;
export function defineId(prefix: string, options: IdOptions = {}): IdMaker {
  const { ids, layout, form, public: sealed, ...others } = ownOf(options);
  const isPrefix = typeof prefix === "string" && /^[a-z]([a-z_]{0,61}[a-z])?$/.test(prefix);
  check(isPrefix, "prefix", prefix, "must be 1 to 63 of a-z and _, with a letter at both ends");
  const [unknown] = Object.keys(others);
  const isObject = Object(options) === options;
  check(isObject && !unknown, "options", unknown ?? options, "must be ids, layout, form or public");
  // An `ids` without a layout makes no IDs: the numbers of a segment, for example.
  const layouts = [ids && (ids.layout ?? null), layout, sealed && (sealed.layout ?? null)];
  const [maxId = MAX_SIGNED, ...maxIds] = layouts.filter((each) => each !== undefined).map(maxIdOf);
  check(!maxIds.some((other) => other !== maxId), "layout", layout, "must be that of ids and public");
  const isForm = form === undefined || (!sealed && form?.width > 0 && !form.alphabet?.includes("_"));
  check(isForm, "form", form, "must be one of frazil/text without _, and absent with public");
  const isSealed = !sealed || (sealed.kind === prefix && sealed.form === "sealed");
  check(isSealed, "public", sealed, `must be sealed, of the kind ${prefix}`);
  const { alphabet, width } = form ?? { ...base62, ...(sealed && { width: 22 }) };
  const codec: Codec = sealed ?? form ?? base62;
  const head = `${prefix}_` as const;
  const rule = `must be ${head} and ${width} of ${alphabet}`;

  const format = (id: IdInput): TypedText => `${head}${codec.encode(idOf(maxId, id))}`;
  const parse = (text: string): Id => {
    if (typeof text !== "string" || text.length !== head.length + width || !text.startsWith(head))
      throw textError(text, rule);
    const digits = text.slice(head.length);
    const id = codec.decode(digits);
    // A form may read several texts of an ID, as `crockford` does. Sealed texts of older keys stay valid.
    if (!sealed && codec.encode(id) !== digits) throw textError(text, rule);
    return idOf(maxId, id);
  };
  const toDriver = (id: IdInput): string => `${idOf(maxId < MAX_SIGNED ? maxId : MAX_SIGNED, id)}`;
  const fromDriver = (value: unknown) => idOf(maxId, value);
  return Object.freeze({
    ...reader<TypedText, Id>(parse, `^${head}[${form ? alphabet.replace(/[\]\\^-]/g, "\\$&") : alphabet}]{${width}}$`),
    prefix,
    next(): Id {
      check(ids, "ids", ids, "must be a generator");
      return (ids as IdSource).next() as Id;
    },
    format,
    encode: collecting(format),
    toDriver,
    fromDriver,
    to: ((id: IdInput | null | undefined) => (id == null ? id : toDriver(id))) as IdMaker["to"],
    from: ((value: unknown) => (value == null ? value : fromDriver(value))) as IdMaker["from"],
    serialize: format as (id: unknown) => TypedText,
    parseValue: parse as (text: unknown) => Id,
  });
}

/**
 * A reader of several types of IDs, which returns the prefix and the ID.
 *
 * @throws {ConfigError} `INVALID_OPTION` if two types have one prefix.
 */
export function anyId<const T extends readonly AnyIdType[]>(...types: T): AnyId<T[number]> {
  const known = new Map(types.map((type) => [type?.prefix, type]));
  check(known.size === types.length && !known.has(undefined as never), "types", types, "must have different prefixes");
  const rule = `must begin with ${[...known.keys()].join("_ or ")}_`;
  const parse = (text: string): AnyOf<T[number]> => {
    const isShort = typeof text === "string" && text.length <= MAX_TEXT;
    const type = isShort && known.get(text.slice(0, text.lastIndexOf("_")));
    if (!type) throw textError(text, rule);
    return { prefix: type.prefix, id: type.parse(text) } as AnyOf<T[number]>;
  };
  return Object.freeze({
    ...reader<TypedText, AnyOf<T[number]>>(parse, types.map(({ jsonSchema }) => jsonSchema.pattern).join("|")),
    reviver(...keys: string[]) {
      const idIn = (value: unknown) => (value === null ? value : parse(value as string).id);
      return (key: string, value: unknown) =>
        !keys.includes(key) ? value : Array.isArray(value) ? value.map(idIn) : idIn(value);
    },
  }) as never;
}
