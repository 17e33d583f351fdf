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
import type { Id, IdInput, LayoutName } from "../layout/id.js";
import { bitsOf } from "../layout/width.js";
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
 * A form that hides the number: 22 characters, sealed with a key, as by `publicIds` of `frazil/public`. An own one refuses a text with a
 * `DecodeError`: `safeParse` throws other errors.
 */
export interface PublicForm {
  readonly kind: string;
  readonly form: string;
  readonly layout: LayoutName | LayoutFields;
  encode(id: bigint): string;
  decode(text: string): bigint;
}

/** The options of `defineId` for a prefix. */
export interface IdOptions<P extends string = string> {
  /** The generator. Without one, IDs are only read and written. */
  readonly ids?: IdSource | undefined;
  /** The layout, which bounds the IDs. Default: that of `ids` or `public`, or else `"default"`. */
  readonly layout?: LayoutName | LayoutFields | undefined;
  /** A form of `frazil/text` whose alphabet has no `_`. Default: base 62. */
  readonly form?: FixedForm | undefined;
  /** The sealed form of `frazil/public` instead, whose kind is the prefix. */
  readonly public?: (PublicForm & { readonly kind: P; readonly form: "sealed" }) | undefined;
}

/** The same type, which is not inferred from where this is. */
type Given<P extends string> = [P][P extends string ? 0 : never];

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
   * @throws {DecodeError} `INVALID_TEXT` if the prefix, the length or a digit is wrong, or by a `form` above 64 bits. `INVALID_ID` if the
   * layout has no such ID.
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

const MAX_SIGNED = 2n ** 63n - 1n;
/** TypeID's, but never empty. */
const PREFIX = /^[a-z]([a-z_]{0,61}[a-z])?$/;

/** Refuses a value that breaks a rule. */
function check(
  holds: unknown,
  field: string,
  value: unknown,
  rule: string,
  code: ErrorCode = "INVALID_OPTION",
  Class: typeof FrazilError = ConfigError,
  hint = "",
): asserts holds {
  if (holds) return;
  // No typed ID is longer: 63 characters of a prefix, `_`, and 64 digits of base 2. Errors have no copy of a longer text.
  const isLong = typeof value === "string" && value.length > 128;
  throw new Class(code, `${field} ${rule}, got ${show(value)}\n${hint}`, { field, rule, ...(!isLong && { value }) });
}

/** Reads a `bigint`, decimal text or an exact number as an ID up to `maxId`. */
function idsUpTo(maxId: bigint): (input: unknown) => Id {
  const rule = `must be an ID from 0 to ${maxId}`;
  return (input) => {
    const isExact = typeof input === "string" ? /^(0|[1-9]\d{0,19})$/.test(input) : Number.isSafeInteger(input);
    const id = isExact ? BigInt(input as string) : input;
    const hint = typeof input === "number" ? "Above 2^53, digits are lost. In SQL: CAST(id AS TEXT)." : "";
    check(typeof id === "bigint" && id >= 0n && id <= maxId, "id", input, rule, "INVALID_ID", DecodeError, hint);
    return id as Id;
  };
}

/** The same call, which passes `null`. */
const nullable =
  <I, O>(call: (input: I) => O) =>
  (input: unknown): O =>
    input == null ? (input as O) : call(input as I);

/** The same call, which returns its refusal. */
const caught =
  <I, O>(call: (input: I) => O) =>
  (input: unknown): SafeResult<O> => {
    try {
      return { success: true, data: call(input as I) };
    } catch (error) {
      // Such as that of a full stack, which tells nothing of the value.
      if (!(error instanceof DecodeError)) throw error;
      return { success: false, error };
    }
  };

/** The same call, which gives its refusal to the context if there is one. */
const collecting =
  <I, O>(call: (input: I) => O) =>
  (input: I, context?: CodecContext): O => {
    const { data, error } = caught(call)(input) as { data: O; error?: DecodeError };
    if (error) {
      if (!context) throw error;
      context.issues.push({ code: "custom", message: error.message, input });
    }
    return data;
  };

/** The members that readers have in common. `read` reads what matches the pattern. */
function reader<Text extends string, T>(pattern: string, read: (text: string) => T): IdReader<Text, T> {
  const expression = new RegExp(pattern);
  const rule = `must match ${pattern}`;
  const parse = (text: string): T => {
    check(typeof text === "string" && expression.test(text), "text", text, rule, "INVALID_TEXT", DecodeError);
    return read(text);
  };
  const safeParse = caught(parse);
  const jsonSchema = Object.freeze({ type: "string", pattern } as const);
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
        output: () => check(false, "io", "output", "must be input: bigint has no JSON Schema") as never,
      }),
    } as const),
  };
}

/** The largest ID of an option: of a layout, or of what has one. */
function maxIdOf([field, given]: [string, { readonly layout?: unknown } | LayoutName | undefined]): bigint[] {
  if (given === undefined) return [];
  const bits = bitsOf((given as IdSource | null)?.layout ?? given);
  check(bits, field, given, "must be or have a layout", "INVALID_LAYOUT");
  return [2n ** BigInt(bits) - 1n];
}

/**
 * A type of IDs. The prefix is that of TypeID: 1 to 63 of the letters a to z and `_`, which is neither first nor last.
 *
 * @throws {ConfigError} `INVALID_OPTION` for another prefix or a wrong option; `INVALID_LAYOUT` for a layout.
 */
export function defineId<const P extends string, K extends string = P>(
  prefix: P,
  options: IdOptions<Given<P>> & { readonly ids: IdSource },
): IdMaker<P, K>;
export function defineId<const P extends string, K extends string = P>(
  prefix: P,
  options?: IdOptions<Given<P>>,
): IdType<P, K>;
export function defineId(prefix: string, options: IdOptions = {}): IdMaker {
  // `ownOf`, in fewer bytes.
  const { ids, layout, form, public: sealed, ...others } = { __proto__: null, ...options } as IdOptions;
  check(typeof prefix === "string" && PREFIX.test(prefix), "prefix", prefix, `must match ${PREFIX.source}`);
  const [unknown] = Object.keys(others);
  check(Object(options) === options && !unknown, "options", unknown ?? options, "must be ids, layout, form or public");
  // An `ids` without a layout makes no IDs: the numbers of a segment, for example.
  const [maxId = MAX_SIGNED, ...maxIds] = Object.entries({ ids, layout, public: sealed } as object).flatMap(maxIdOf);
  check(!maxIds.some((other) => other !== maxId), "layout", layout, "must be that of ids and public");
  check(
    form === undefined || (!sealed && form?.width > 0 && form.alphabet?.split?.("_").length === 1),
    "form",
    form,
    "must be of frazil/text, without _ or public",
  );
  check(!sealed || sealed.kind === prefix, "public.kind", sealed?.kind, `must be ${prefix}`);
  check(!sealed || sealed.form === "sealed", "public.form", sealed?.form, "must be sealed");
  const codec: Codec = sealed ?? form ?? base62;
  const digits = form ? form.alphabet.replace(/[\]\\^-]/g, "\\$&") : "0-9A-Za-z";
  const head = `${prefix}_` as const;

  const idOf = idsUpTo(maxId);
  const signed = idsUpTo(maxId < MAX_SIGNED ? maxId : MAX_SIGNED);
  const format = (id: IdInput): TypedText => `${head}${codec.encode(idOf(id))}`;
  const toDriver = (id: IdInput): string => `${signed(id)}`;
  const members = reader<TypedText, Id>(`^${head}[${digits}]{${sealed ? 22 : (form?.width ?? 11)}}$`, (text) =>
    idOf(codec.decode(text.slice(head.length))),
  );
  return Object.freeze({
    ...members,
    prefix,
    next(): Id {
      check(ids?.next, "ids", ids, "must be a generator");
      return ids.next() as Id;
    },
    format,
    encode: collecting(format),
    toDriver,
    fromDriver: idOf,
    to: nullable(toDriver) as IdMaker["to"],
    from: nullable(idOf) as IdMaker["from"],
    serialize: format as (id: unknown) => TypedText,
    parseValue: members.parse as (text: unknown) => Id,
  });
}

/**
 * A reader of several types of IDs, which returns the prefix and the ID.
 *
 * @throws {ConfigError} `INVALID_OPTION` if two types have one prefix, or if there is none.
 */
export function anyId<const T extends readonly AnyIdType[]>(...types: T): AnyId<T[number]> {
  const known = new Map(types.map((type) => [type?.jsonSchema && type.prefix, type]));
  check(
    known.size && known.size === types.length && !known.has(undefined as never),
    "types",
    types,
    "must have different prefixes",
  );
  const members = reader<TypedText, AnyOf<T[number]>>(
    types.map(({ jsonSchema }) => jsonSchema.pattern).join("|"),
    (text) => {
      const prefix = text.slice(0, text.lastIndexOf("_"));
      return { prefix, id: known.get(prefix)?.parse(text) } as AnyOf<T[number]>;
    },
  );
  const idIn = nullable((text: string) => members.parse(text).id);
  return Object.freeze({
    ...members,
    reviver:
      (...keys: string[]) =>
      (key: string, value: unknown) =>
        !keys.includes(key) ? value : Array.isArray(value) ? value.map(idIn) : idIn(value),
  }) as never;
}
