import type { ErrorCode } from "../generated/errors.js";
export type { ErrorCode } from "../generated/errors.js";
export interface ErrorDetails {
    readonly retryable?: boolean;
    readonly field?: string;
    readonly value?: unknown;
    readonly rule?: string;
    readonly hint?: string;
    readonly retryAfterMs?: number;
    readonly maxCount?: number;
    readonly issued?: number;
    readonly position?: number;
    readonly index?: number;
    readonly cause?: unknown;
}
export declare class FrazilError extends Error {
    readonly retryable: boolean;
    readonly field?: string;
    readonly value?: unknown;
    readonly rule?: string;
    readonly hint?: string;
    readonly retryAfterMs?: number;
    readonly maxCount?: number;
    readonly issued?: number;
    readonly position?: number;
    readonly index?: number;
    constructor(code: ErrorCode, message: string, details?: ErrorDetails);
    readonly code: ErrorCode;
    toJSON(): object;
    static is(error: unknown): error is FrazilError;
    static [Symbol.hasInstance](error: unknown): boolean;
}
export declare class ConfigError extends FrazilError {
}
export declare class ClockError extends FrazilError {
}
export declare class LeaseError extends FrazilError {
}
export declare class DecodeError extends FrazilError {
}
