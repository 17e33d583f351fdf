/** Errors as data: a class and its fields do not survive a call from one isolate to another. */
import { ConfigError, type ErrorCode, type ErrorDetails, FrazilError, isWhole, LeaseError } from "../../base/errors.js";
import { CLASSES } from "../../generated/errors.js";

/** An error of this package, without its cause. */
export interface ErrorData {
  readonly code: string;
  readonly message: string;
  readonly details: Omit<ErrorDetails, "cause">;
}

/** The outcome of a call. */
export type Reply<T> = { readonly value: T } | { readonly error: ErrorData };

/** The data of an error. Its message is without the code, as the constructor takes it. @internal */
export function dataOf(error: FrazilError): ErrorData {
  const { code, message, cause: _, ...details } = { ...error, code: error.code, message: error.message };
  return { code, message: message.slice(code.length + 2), details };
}

const isIn = (codes: string, code: string) => codes.split(" ").includes(code);

/** Whether a value is such data, of a code that there is. @internal */
export function isErrorData(given: unknown): given is ErrorData {
  const { code, message, details } = (given ?? {}) as Partial<ErrorData>;
  const isKnown = typeof code === "string" && isIn(Object.values(CLASSES).join(" "), code);
  return isKnown && typeof message === "string" && (details === undefined || Object(details) === details);
}

/** The details that are of their type: the object may be of another class. */
function checkedDetails({
  retryable,
  field,
  value,
  rule,
  hint,
  retryAfterMs,
}: Partial<ErrorDetails> = {}): ErrorDetails {
  return {
    retryable: retryable === true,
    ...(typeof field === "string" && { field, value }),
    ...(typeof rule === "string" && { rule }),
    ...(typeof hint === "string" && { hint }),
    ...(isWhole(retryAfterMs, 0, Number.MAX_SAFE_INTEGER) && { retryAfterMs }),
  };
}

/** The error of such data. @internal */
export function errorOfData({ code, message, details }: ErrorData): FrazilError {
  const Class = isIn(CLASSES.LeaseError, code)
    ? LeaseError
    : isIn(CLASSES.ConfigError, code)
      ? ConfigError
      : FrazilError;
  return new Class(code as ErrorCode, message, checkedDetails(details));
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
