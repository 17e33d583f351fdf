/**
 * Errors: a stable `code`, its class and its subject. The codes and the core's rules are generated from the core, so both backends and the
 * decoder report the same causes in the same words.
 *
 * As in PostgreSQL, an error has two texts: the message is one short fact with the value, and the hint says what to do. In the sources
 * they are one text, with a line break between them.
 */
import type { ErrorCode } from "../generated/errors.js";
import { Rule } from "../generated/rules.js";

export type { ErrorCode } from "../generated/errors.js";

/** The details of an error besides its code. A field that does not apply is absent. */
export interface ErrorDetails {
  /** Whether the same call can succeed later without a change by the caller. */
  readonly retryable?: boolean;
  /** The option, argument or field at fault. */
  readonly field?: string;
  /**
   * The value that was given; not enumerable if it is an object. Absent if it may be a password: text or an object in an unknown option or
   * a store's option, and text instead of options, or if it has a key of `frazil/public`.
   */
  readonly value?: unknown;
  /** The rule that the value broke. */
  readonly rule?: string;
  /** What to do, in a sentence or two. Absent if the message says it all. */
  readonly hint?: string;
  /** Milliseconds until the same call can succeed; for a bulk call that failed midway, until it could have continued. */
  readonly retryAfterMs?: number;
  /** The largest count with which the call can succeed. */
  readonly maxCount?: number;
  /**
   * The number of IDs that a bulk call had issued when it failed. They are at the start of the array, valid, and never issued again.
   */
  readonly issued?: number;
  /** The position of the error in a text. */
  readonly position?: number;
  /** The index of the ID or text at fault among many. */
  readonly index?: number;
  /** The error that caused this one. */
  readonly cause?: unknown;
}

/** Marks errors of the package, whichever copy, subpath, module format or realm made them. */
const BRAND: unique symbol = /* @__PURE__ */ Symbol.for("frazil.error") as never;

/** Gives an error a property that is not enumerable. */
function hide(error: object, key: PropertyKey, value?: unknown): void {
  Object.defineProperty(error, key, {
    __proto__: null,
    value,
    writable: true,
    configurable: true,
  } as PropertyDescriptor);
}

/** Any error of this package. Branch on `code`. The message and the hint are for people and may change. */
export class FrazilError extends Error {
  /** The name of the class, which a minifier does not change. @internal */
  static readonly label: string = "FrazilError";
  /** Private, because printing an error prints its own properties, and the message already begins with the code. */
  #code: ErrorCode;
  declare readonly retryable: boolean;
  declare readonly field?: string;
  declare readonly value?: unknown;
  declare readonly rule?: string;
  /** What to do, in a sentence or two. Absent if the message, which is one line, says it all. */
  declare readonly hint?: string;
  declare readonly retryAfterMs?: number;
  declare readonly maxCount?: number;
  declare readonly issued?: number;
  declare readonly position?: number;
  declare readonly index?: number;

  /** @param message One line. The hint follows a line break. */
  constructor(code: ErrorCode, message: string, details?: ErrorDetails) {
    // Always has a `cause`, so that none is read from a polluted `Object.prototype`.
    const { cause, ...fields } = { cause: undefined, ...details };
    const [fact, ...hints] = message.split("\n");
    super(`${code}: ${fact}`, cause ? { cause } : undefined);
    this.#code = code;
    this.retryable = false;
    const hint = hints.join(" ").trim();
    if (hint) this.hint = hint;
    // An object may hold secrets, and printing an error prints its enumerable properties.
    if (Object(fields.value) === fields.value) hide(this, "value");
    // A key that was given in the wrong place.
    else if (typeof fields.value === "string" && fields.value.search(KEY) > 0)
      delete (fields as { value?: unknown }).value;
    if (details) Object.assign(this, fields);
  }

  /** The cause, stable across versions. */
  get code(): ErrorCode {
    // A Proxy of an error, and an object that inherits from one, have no private fields. Their message may be anything.
    return #code in this ? this.#code : (String((this as Error).message).match(/[A-Z_]+(?=:)/)?.[0] as ErrorCode);
  }

  /** @internal */
  set code(code) {
    if (#code in this) this.#code = code;
    else hide(this, "code", code);
  }

  // As in built-in errors. A derived class, or a program, can set another one.
  /** @internal */
  override get name(): string {
    return (this.constructor as typeof FrazilError).label;
  }

  /** @internal */
  override set name(name) {
    hide(this, "name", name);
  }

  /** @internal */
  get [BRAND](): string {
    return (this.constructor as typeof FrazilError).label;
  }

  /** All details, for logs. `value` is written as in the message, because JSON has no bigint. */
  toJSON(): object {
    const { name, message, code } = this;
    return Object.assign({ name, message, code }, this, Object.hasOwn(this, "value") && { value: show(this.value) });
  }

  /** Whether a value is an error of this package, from any copy or realm. */
  static is(error: unknown): error is FrazilError {
    return isFrazilError(error);
  }

  static override [Symbol.hasInstance](error: unknown): boolean {
    try {
      // A derived class has no own label, so the usual rule applies.
      if (!Object.hasOwn(this, "label")) return super[Symbol.hasInstance](error);
      const brand = (error as { [BRAND]?: unknown } | null | undefined)?.[BRAND];
      return this.label === "FrazilError" ? typeof brand === "string" : brand === this.label;
    } catch {
      // A revoked Proxy, or a getter that throws: not an error of the package.
      return false;
    }
  }
}

// For loggers, which copy the properties that `for` finds.
Object.defineProperty(FrazilError.prototype, "code", { __proto__: null, enumerable: true } as PropertyDescriptor);

// Outside the class: bundlers rename a class that refers to itself, and stack traces would show that name.
const isFrazilError = (error: unknown): error is FrazilError => error instanceof FrazilError;

/** The program or its environment is set up wrongly. */
export class ConfigError extends FrazilError {
  /** @internal */
  static override readonly label = "ConfigError";
}

/** The clock or the time field does not allow it, now or ever again. */
export class ClockError extends FrazilError {
  /** @internal */
  static override readonly label = "ClockError";
}

/** The right to mint is missing, or the store that grants it is unavailable. */
export class LeaseError extends FrazilError {
  /** @internal */
  static override readonly label = "LeaseError";
}

/** The value to decode is not an ID, or not an ID of this layout. */
export class DecodeError extends FrazilError {
  /** @internal */
  static override readonly label = "DecodeError";
}

/** A text without what a terminal acts on or hides, such as U+009B and a zero-width space, and without ends of lines. @internal */
export const plain = (text: string): string => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd");

/**
 * What follows the tag of a key of `frazil/public`: the key, also in part, on two lines, or in capitals, whose case a search finds by the
 * checksum. No message has it. @internal
 */
export const KEY: RegExp = /(?<=frazilkey_).+/is;

/**
 * The first 64 characters of a text from outside, in quotes. They are in its first 130 units. Of a text of 10 MB the expression would
 * overflow the stack.
 */
const quoted = (text: string): string =>
  plain(
    JSON.stringify(
      text
        .slice(0, 130)
        .replace(/^(.{64}).+/su, "$1…")
        .replace(KEY, "…"),
    ),
  );

/** A name from outside, as shown in a message: short, and without control characters. @internal */
export const showName = (name: string): string => quoted(name).slice(1, -1);

/** A value as shown in a message: short, and with its type visible. @internal */
export function show(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "bigint")
    // The digits of a huge `bigint` would take seconds.
    return BigInt.asIntN(65, value) === value ? `${value}n` : "a bigint of more than 64 bits";
  return Object(value) !== value ? showName(String(value)) : typeof value === "object" ? "an object" : "a function";
}

/** The error for a value that breaks a rule. It names the field, the value and the rule. @internal */
export function refusal(
  Class: typeof FrazilError,
  code: ErrorCode,
  field: string,
  value: unknown,
  template: string,
  min?: unknown,
  max?: unknown,
  details?: ErrorDetails,
  shown = show(value),
): FrazilError {
  // By functions, since `$&` in a text would stand for something else. Without a limit, the name of an option may look like its place.
  const text = template
    .replace("{min}", (place) => (min ?? place) as string)
    .replace("{max}", (place) => (max ?? place) as string);
  return new Class(code, saidOf(field, text, shown), { field, value, rule: factOf(text), ...details });
}

/** The first line of a text, without its hint. @internal */
export const factOf = (text: string): string => text.split("\n")[0] as string;

/** A rule that begins with "must" completes the name of the field. Any other rule is a message as it stands. @internal */
export const saidOf = (field: string, rule: string, shown: string): string =>
  // By a function, as above.
  /^must /.test(rule) ? `${field} ${rule.replace(/\n|$/, (end) => `, got ${shown}${end}`)}` : rule;

/** The text of a refusal that ends by waiting: `said`, and a hint that begins with the time, rounded up, as the core says it. */
function retryText(said = "", retryAfterMs: number): string {
  const [ms, unit] =
    retryAfterMs < 120_000 ? [1, "ms"] : retryAfterMs < 172_800_000 ? [60_000, "minutes"] : [86_400_000, "days"];
  return said.replace(/\n|$/, `\nRetry after ${Math.ceil(retryAfterMs / ms)} ${unit}. `);
}

/** A refusal by the clock that ends by waiting. @internal */
export function retryError(code: ErrorCode, said: string | undefined, retryAfterMs: number): FrazilError {
  const error: { retryable: boolean; retryAfterMs?: number } = new ClockError(code, retryText(said, retryAfterMs));
  error.retryable = true;
  error.retryAfterMs = retryAfterMs;
  return error as FrazilError;
}

/** The error for a refusal by the core that is not about a rule. It says when to retry, if waiting helps. @internal */
export function withoutRule(
  Class: typeof FrazilError,
  code: ErrorCode,
  said: string | undefined,
  retryable: boolean,
  retryAfterMs: number,
  details?: ErrorDetails,
): FrazilError {
  return new Class(code, retryAfterMs ? retryText(said, retryAfterMs) : `${said}`, {
    retryable,
    ...(retryAfterMs && { retryAfterMs }),
    ...details,
  });
}

/** A `refusal` that is a `ConfigError`. @internal */
export function configError(
  code: ErrorCode,
  field: string,
  value: unknown,
  rule: string,
  min?: unknown,
  max?: unknown,
): FrazilError {
  return refusal(ConfigError, code, field, value, rule, min, max);
}

/** Whether a value is a whole number in a range. @internal */
export const isWhole = (value: unknown, min: number, max: number): value is number =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max;

/** A value that is a whole number in a range, or else a `ConfigError` that names the rule. @internal */
export function whole(code: ErrorCode, field: string, value: unknown, min: number, max: number, given = value): number {
  if (isWhole(value, min, max)) return value;
  throw configError(code, field, given, Rule.WHOLE_NUMBER, min, max);
}
