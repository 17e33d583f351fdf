/**
 * Errors: a stable `code`, its class, and what it is about. The codes and the texts of the rules are generated from the
 * Rust core, so both backends and the decoder report the same causes in the same words.
 */
import type { ErrorCode } from "./generated/errors.js";
import { Rule } from "./generated/rules.js";

export type { ErrorCode } from "./generated/errors.js";

/** The details of an error besides its code. A field that does not apply is absent. */
export interface ErrorDetails {
  /** Whether the same call can succeed later without a change by the caller. */
  readonly retryable?: boolean;
  /** The option, argument or field at fault. */
  readonly field?: string;
  /** The value that was given. */
  readonly value?: unknown;
  /** The rule that the value broke. */
  readonly rule?: string;
  /** Milliseconds until the same call can succeed. */
  readonly retryAfterMs?: number;
  /** The largest count with which the call can succeed. */
  readonly maxCount?: number;
  /**
   * How many IDs a bulk call had issued when it failed. They are at the start of the array, valid, and never issued
   * again.
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

/**
 * The property `name` of an error: not enumerable, as in built-in errors; writable, so that a derived class can set its own name. One
 * for all errors, since a literal without a prototype is slow to make.
 */
const NAME = { __proto__: null, writable: true, configurable: true } as PropertyDescriptor;

/** Any error of this package. Branch on `code`. The message is for people and may change. */
export class FrazilError extends Error {
  /** The name of the class, which a minifier does not change. @internal */
  static readonly label: string = "FrazilError";
  /** The cause, stable across versions. */
  declare readonly code: ErrorCode;
  declare readonly retryable: boolean;
  declare readonly field?: string;
  declare readonly value?: unknown;
  declare readonly rule?: string;
  declare readonly retryAfterMs?: number;
  declare readonly maxCount?: number;
  declare readonly issued?: number;
  declare readonly position?: number;
  declare readonly index?: number;

  constructor(code: ErrorCode, message: string, details?: ErrorDetails) {
    // It has a `cause` in any case, so that none is read from a polluted `Object.prototype`.
    const { cause, ...fields } = { cause: undefined, ...details };
    super(`${code}: ${message}`, cause ? { cause } : undefined);
    NAME.value = new.target.label;
    Object.defineProperty(this, "name", NAME);
    this.code = code;
    this.retryable = false;
    Object.assign(this, fields);
  }

  /** @internal */
  get [BRAND](): string {
    return (this.constructor as typeof FrazilError).label;
  }

  /** All details, for logs. `value` is written as in the message, since JSON has no bigint. */
  toJSON(): object {
    const { name, message } = this;
    return Object.assign({ name, message }, this, Object.hasOwn(this, "value") && { value: show(this.value) });
  }

  /** Whether a value is an error of this package, from any copy or realm. */
  static is(error: unknown): error is FrazilError {
    return isFrazilError(error);
  }

  static override [Symbol.hasInstance](error: unknown): boolean {
    // A derived class has no label of its own, and the usual rule applies.
    if (!Object.hasOwn(this, "label")) return super[Symbol.hasInstance](error);
    const brand = (error as { [BRAND]?: unknown } | null | undefined)?.[BRAND];
    return this.label === "FrazilError" ? typeof brand === "string" : brand === this.label;
  }
}

// Outside the class, since a bundler renames a class that refers to itself, and stack traces would show that name.
const isFrazilError = (error: unknown): error is FrazilError => error instanceof FrazilError;

/** The program or its environment is set up wrongly. */
export class ConfigError extends FrazilError {
  /** @internal */
  static override readonly label = "ConfigError";
}

/** The clock or the time field does not allow it, now or any more. */
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

/** A value as it is written in a message: short, and so that its type is visible. @internal */
export function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.replace(/^(.{64}).+/s, "$1…"));
  if (typeof value === "bigint") return `${value}n`;
  return Object(value) === value ? `some ${typeof value}` : String(value);
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
): FrazilError {
  const rule = template.replace("{min}", `${min}`).replace("{max}", `${max}`);
  return new Class(code, `${field} is ${show(value)}: ${rule}`, { field, value, rule, ...details });
}

/** The error for a refusal by the core that is not about a rule. It says when to retry, if waiting helps. @internal */
export function withoutRule(
  Class: typeof FrazilError,
  code: ErrorCode,
  meaning: string | undefined,
  retryable: boolean,
  retryAfterMs: number,
  details?: ErrorDetails,
): FrazilError {
  if (!retryAfterMs) return new Class(code, meaning as string, { retryable, ...details });
  return new Class(code, `${meaning} Retry after ${retryAfterMs} ms.`, { retryable, retryAfterMs, ...details });
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
export function whole(code: ErrorCode, field: string, value: unknown, min: number, max: number): number {
  if (isWhole(value, min, max)) return value;
  throw configError(code, field, value, Rule.WHOLE_NUMBER, min, max);
}
