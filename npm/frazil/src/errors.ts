/**
 * Errors: a stable `code`, the class it belongs to, and what it is about. The codes and the sentences of the rules are
 * generated from the Rust core, so both backends and the decoder speak of the same causes in the same words.
 */
import type { ErrorCode } from "./generated/errors.js";
import { ownOf } from "./own.js";

export type { ErrorCode } from "./generated/errors.js";

/** What an error says besides its code. A field that does not apply is absent. */
export interface ErrorDetails {
  /** Whether the same call can succeed later although the caller changes nothing. */
  readonly retryable?: boolean;
  /** The option, argument or field at fault. */
  readonly field?: string;
  /** The value it had. */
  readonly value?: unknown;
  /** The rule that the value broke. */
  readonly rule?: string;
  /** Milliseconds until the same call can first succeed. */
  readonly retryAfterMs?: number;
  /** The largest count that the call could ever meet. */
  readonly maxCount?: number;
  /** How many IDs a bulk call had issued when it failed: the first ones, valid, and never issued again. */
  readonly issued?: number;
  /** Where in a text the error lies. */
  readonly position?: number;
  /** Which of many IDs or texts is at fault. */
  readonly index?: number;
  /** What made it fail. */
  readonly cause?: unknown;
}

/** Marks errors across copies of the package, subpaths, ESM and CommonJS, and realms. */
const BRAND: unique symbol = /* @__PURE__ */ Symbol.for("frazil.error") as never;

/** Any error of this package. Branch on `code`; the message is for people. */
export class FrazilError extends Error {
  /** The name of the class, which minifying does not change. @internal */
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
    const { cause, ...fields } = ownOf(details as ErrorDetails);
    super(`${code}: ${message}`, cause ? { cause } : undefined);
    // The name as of any error: not listed among the fields, and a class that a user derives may name itself.
    Object.defineProperty(this, "name", ownOf({ value: new.target.label, writable: true, configurable: true }));
    Object.assign(this, { code, retryable: false }, fields);
  }

  /** @internal */
  get [BRAND](): string {
    return (this.constructor as typeof FrazilError).label;
  }

  /** All it says, for logs: the value as it stands in the message, since JSON has no bigint. */
  toJSON(): object {
    const { name, message } = this;
    return Object.assign({ name, message }, this, Object.hasOwn(this, "value") && { value: show(this.value) });
  }

  /** Whether a value is an error of this package, whichever copy or realm made it. */
  static is(error: unknown): error is FrazilError {
    return isFrazilError(error);
  }

  static override [Symbol.hasInstance](error: unknown): boolean {
    // A class that a user derives has no label of its own, and is judged as usual.
    if (!Object.hasOwn(this, "label")) return super[Symbol.hasInstance](error);
    const brand = (error as { [BRAND]?: unknown } | null | undefined)?.[BRAND];
    return this.label === "FrazilError" ? typeof brand === "string" : brand === this.label;
  }
}

// Outside the class, here as in other files: a bundler gives a class that refers to itself another name in stack traces.
const isFrazilError = (error: unknown): error is FrazilError => error instanceof FrazilError;

/** The program or its surroundings are set up wrongly. */
export class ConfigError extends FrazilError {
  /** @internal */
  static override readonly label = "ConfigError";
}

/** Time does not allow it now, or no longer. */
export class ClockError extends FrazilError {
  /** @internal */
  static override readonly label = "ClockError";
}

/** The right to mint, or the store that grants it, is missing. */
export class LeaseError extends FrazilError {
  /** @internal */
  static override readonly label = "LeaseError";
}

/** What was given to decode is not an ID, or not one of this layout. */
export class DecodeError extends FrazilError {
  /** @internal */
  static override readonly label = "DecodeError";
}

/** A value as it stands in a message: short, and with its type visible. */
function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.replace(/^(.{64}).+/s, "$1…"));
  if (typeof value === "bigint") return `${value}n`;
  return Object(value) === value ? `some ${typeof value}` : String(value);
}

/** The error about a value that breaks a rule: it names the field, the value and the rule. @internal */
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

/** The refusal of something that is set up wrongly. @internal */
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
