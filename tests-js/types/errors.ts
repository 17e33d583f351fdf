// The types of errors: a closed list of codes, and optional fields.
import { ClockError, ConfigError, DecodeError, type ErrorCode, FrazilError, LeaseError } from "frazil";
import { check, type Equal } from "./equal.js";

declare const error: unknown;
if (FrazilError.is(error)) check<Equal<typeof error, FrazilError>>();
if (error instanceof ClockError) {
  check<Equal<typeof error.code, ErrorCode>>();
  check<Equal<typeof error.retryable, boolean>>();
  check<Equal<typeof error.retryAfterMs, number | undefined>>();
  check<Equal<typeof error.maxCount, number | undefined>>();
  check<Equal<typeof error.issued, number | undefined>>();
  check<Equal<typeof error.field, string | undefined>>();
  check<Equal<typeof error.rule, string | undefined>>();
  check<Equal<typeof error.position, number | undefined>>();
  check<Equal<typeof error.value, unknown>>();
  switch (error.code) {
    case "CLOCK_BACKWARD":
    case "SEQUENCE_EXHAUSTED":
    case "LEASE_EXPIRED":
      break;
    // @ts-expect-error: no such code
    case "CLOCK_BACKWARDS":
      break;
  }
  // @ts-expect-error: a code does not change
  error.code = "CLOSED";
}
const codes: ErrorCode[] = [
  "INVALID_LAYOUT",
  "INVALID_NODE",
  "NODE_REQUIRED",
  "STATE_FILE_AHEAD",
  "TIME_EXHAUSTED",
  "NOT_TIME_ORDERED",
];
const all: Error[] = [
  new ConfigError("CLOSED", "x"),
  new LeaseError("LEASE_LOST", "x"),
  new DecodeError("INVALID_TEXT", "x"),
];
// @ts-expect-error: no such code
new FrazilError("NOPE", "x");

class QuotaError extends FrazilError {
  constructor(...given: ConstructorParameters<typeof FrazilError>) {
    super(...given);
    this.name = "QuotaError";
  }
}
const quota: FrazilError = new QuotaError("CLOSED", "x", { cause: error });

export { all, codes, quota };
