/**
 * Errors: a stable `code`, the class it belongs to, and what it is about. The table of codes is generated from the Rust
 * core (`generated/errors.ts`), so both backends and the decoder speak of the same causes.
 */
import { CLASSES, type ErrorCode, RETRYABLE } from "./generated/errors.js";

export type { ErrorCode } from "./generated/errors.js";

/** What an error says besides its code. */
export interface ErrorDetails {
  /** The option, argument or field at fault. */
  readonly field?: string | undefined;
  /** The value it had. */
  readonly value?: unknown;
  /** The rule that the value broke. */
  readonly rule?: string | undefined;
  /** Milliseconds until the same call can first succeed. */
  readonly retryAfterMs?: number | undefined;
  /** The largest count that the call could ever meet. */
  readonly maxCount?: number | undefined;
  /** How many IDs a bulk call had issued when it failed: the first ones, valid, and never issued again. */
  readonly issued?: number | undefined;
  /** Where in a text the error lies. */
  readonly position?: number | undefined;
  /** What made it fail. */
  readonly cause?: unknown;
}

/** Marks errors across copies of the package, subpaths, ESM and CommonJS, and realms. */
const BRAND: unique symbol = /* @__PURE__ */ Symbol.for("frazil.error") as never;

/** A value as it stands in a message: short, and with its type visible. */
function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 64 ? `${value.slice(0, 64)}…` : value);
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" ? "a function" : String(value);
}

/** Any error of this package. Branch on `code`; the message is for people. */
export class FrazilError extends Error {
  /** The cause, stable across versions. */
  readonly code: ErrorCode;
  /** Whether the same call can succeed later although the caller changes nothing. */
  readonly retryable: boolean;
  // Declared only: a field that does not apply is absent, not an own `undefined`.
  declare readonly field?: string;
  declare readonly value?: unknown;
  declare readonly rule?: string;
  declare readonly retryAfterMs?: number;
  declare readonly maxCount?: number;
  declare readonly issued?: number;
  declare readonly position?: number;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(`${code}: ${message}`, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    // A count beyond `maxCount` is met by no later call either.
    this.retryable = RETRYABLE.split(" ").includes(code) && details.maxCount === undefined;
    const { cause: _, ...rest } = details;
    for (const [name, value] of Object.entries(rest)) {
      if (value !== undefined || name === "value") (this as Record<string, unknown>)[name] = value;
    }
  }

  /** The name of the class, for errors of other copies of the package and after minifying. */
  get [BRAND](): string {
    return "FrazilError";
  }

  override get name(): string {
    return this[BRAND];
  }

  /** As of any error: a subclass may name itself. */
  override set name(name: string) {
    Object.defineProperty(this, "name", { value: name, writable: true, configurable: true });
  }

  /** All it says, for logs: the value as it stands in the message, since JSON has no bigint. */
  toJSON(): Record<string, unknown> {
    const said: Record<string, unknown> = { name: this.name, message: this.message };
    return Object.assign(said, this, "value" in this && { value: show(this.value) });
  }

  /** Whether a value is an error of this package, whichever copy or realm made it. */
  static is(error: unknown): error is FrazilError {
    return error instanceof FrazilError;
  }

  static override [Symbol.hasInstance](error: unknown): boolean {
    if (!Object.hasOwn(this.prototype, BRAND)) return Function.prototype[Symbol.hasInstance].call(this, error);
    const brand = (error as { [BRAND]?: unknown } | null | undefined)?.[BRAND];
    const own = this.prototype[BRAND];
    return own === "FrazilError" ? typeof brand === "string" : brand === own;
  }
}

/** The program or its surroundings are set up wrongly. */
export class ConfigError extends FrazilError {
  override get [BRAND](): string {
    return "ConfigError";
  }
}

/** Time does not allow it now, or no longer. */
export class ClockError extends FrazilError {
  override get [BRAND](): string {
    return "ClockError";
  }
}

/** The right to mint, or the store that grants it, is missing. */
export class LeaseError extends FrazilError {
  override get [BRAND](): string {
    return "LeaseError";
  }
}

/** What was given to decode is not an ID, or not one of this layout. */
export class DecodeError extends FrazilError {
  override get [BRAND](): string {
    return "DecodeError";
  }
}

/** The error of a code, in its class. @internal */
export function errorOf(code: ErrorCode, message: string, details?: ErrorDetails): FrazilError {
  const classes = { ConfigError, ClockError, LeaseError, DecodeError };
  const name = (Object.keys(classes) as (keyof typeof classes)[]).find((name) => CLASSES[name].split(" ").includes(code));
  return new classes[name ?? "ConfigError"](code, message, details);
}

/** The error about a value that breaks a rule: it names the field, the value and the rule. @internal */
export function refusal(
  code: ErrorCode,
  field: string,
  value: unknown,
  template: string,
  min?: unknown,
  max?: unknown,
  details?: ErrorDetails,
): FrazilError {
  const rule = template.replace("{min}", String(min)).replace("{max}", String(max));
  return errorOf(code, `${field} is ${show(value)}: ${rule}`, { field, value, rule, ...details });
}
