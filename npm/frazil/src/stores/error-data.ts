/** Errors as data: a class and its fields do not survive a call from one isolate to another. */
import { ConfigError, type ErrorCode, type ErrorDetails, FrazilError, LeaseError } from "../errors.js";
import { CLASSES } from "../generated/errors.js";

/** An error of this package, without its cause. */
export interface ErrorData {
  readonly code: string;
  readonly message: string;
  readonly details: Omit<ErrorDetails, "cause">;
}

/** What a call came to. */
export type Reply<T> = { readonly value: T } | { readonly error: ErrorData };

/** The data of an error. Its message is without the code, as the constructor takes it. @internal */
export function dataOf(error: FrazilError): ErrorData {
  const { code, message, cause: _, ...details } = { ...error, code: error.code, message: error.message };
  return { code, message: message.slice(code.length + 2), details };
}

/** The error of such data. @internal */
export function errorOfData({ code, message, details }: ErrorData): FrazilError {
  const isIn = (codes: string) => codes.split(" ").includes(code);
  const Class = isIn(CLASSES.LeaseError) ? LeaseError : isIn(CLASSES.ConfigError) ? ConfigError : FrazilError;
  return new Class(code as ErrorCode, message, details);
}

/** Runs work, and returns what it came to as data. @throws whatever is no error of this package. @internal */
export function replyOf<T>(work: () => T): Reply<T> {
  try {
    return { value: work() };
  } catch (error) {
    if (FrazilError.is(error)) return { error: dataOf(error) };
    throw error;
  }
}
