/**
 * Errors: a stable `code`, the class it belongs to, and what it is about. The codes and the sentences of the rules are
 * generated from the Rust core, so both backends and the decoder speak of the same causes in the same words.
 */
import type { ErrorCode } from "./generated/errors.js";
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
/** Any error of this package. Branch on `code`; the message is for people. */
export declare class FrazilError extends Error {
    /** The cause, stable across versions. */
    readonly code: ErrorCode;
    readonly retryable: boolean;
    readonly field?: string;
    readonly value?: unknown;
    readonly rule?: string;
    readonly retryAfterMs?: number;
    readonly maxCount?: number;
    readonly issued?: number;
    readonly position?: number;
    readonly index?: number;
    constructor(code: ErrorCode, message: string, details?: ErrorDetails);
    /** All it says, for logs: the value as it stands in the message, since JSON has no bigint. */
    toJSON(): object;
    /** Whether a value is an error of this package, whichever copy or realm made it. */
    static is(error: unknown): error is FrazilError;
    static [Symbol.hasInstance](error: unknown): boolean;
}
/** The program or its surroundings are set up wrongly. */
export declare class ConfigError extends FrazilError {
}
/** Time does not allow it now, or no longer. */
export declare class ClockError extends FrazilError {
}
/** The right to mint, or the store that grants it, is missing. */
export declare class LeaseError extends FrazilError {
}
/** What was given to decode is not an ID, or not one of this layout. */
export declare class DecodeError extends FrazilError {
}
