/**
 * Errors: a stable `code`, its class, and what it is about. The codes and the texts of the rules are generated from the
 * Rust core, so both backends and the decoder report the same causes in the same words.
 */
import type { ErrorCode } from "../generated/errors.js";
export type { ErrorCode } from "../generated/errors.js";
/** The details of an error besides its code. A field that does not apply is absent. */
export interface ErrorDetails {
    /** Whether the same call can succeed later without a change by the caller. */
    readonly retryable?: boolean;
    /** The option, argument or field at fault. */
    readonly field?: string;
    /**
     * The value that was given; not enumerable if it is an object. Absent where it may be a password: a text or an object as an option
     * that is not known or that is one of a store, and a text in the place of options.
     */
    readonly value?: unknown;
    /** The rule that the value broke. */
    readonly rule?: string;
    /** Milliseconds until the same call can succeed; of a call for many IDs that ended midway, until it could have gone on. */
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
/** Any error of this package. Branch on `code`. The message is for people and may change. */
export declare class FrazilError extends Error {
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
    /** The cause, stable across versions. */
    readonly code: ErrorCode;
    /** All details, for logs. `value` is written as in the message, since JSON has no bigint. */
    toJSON(): object;
    /** Whether a value is an error of this package, from any copy or realm. */
    static is(error: unknown): error is FrazilError;
    static [Symbol.hasInstance](error: unknown): boolean;
}
/** The program or its environment is set up wrongly. */
export declare class ConfigError extends FrazilError {
}
/** The clock or the time field does not allow it, now or any more. */
export declare class ClockError extends FrazilError {
}
/** The right to mint is missing, or the store that grants it is unavailable. */
export declare class LeaseError extends FrazilError {
}
/** The value to decode is not an ID, or not an ID of this layout. */
export declare class DecodeError extends FrazilError {
}
