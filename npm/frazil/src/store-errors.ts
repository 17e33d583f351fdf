/** The errors of what asks a store: an answer that cannot be true, a rejection and a time-out. */
import { FrazilError, LeaseError } from "./errors.js";

/** What the errors name. @internal */
export interface StoreContext {
  readonly store: { waitsFor?(): string | undefined };
  /** Which store, and what of it, in words: `in the … store, …`. */
  readonly where: string;
}

/** The error for an answer that was refused. `error` says what is wrong with it. @internal */
export function untrueAnswer(error: FrazilError, { where }: StoreContext): FrazilError {
  const { code, message } = error;
  // A clock of this machine may be what is wrong.
  if (code !== "STORE_REFUSED") return error;
  return new LeaseError(code, `an answer cannot be true ${where}: ${message.slice(code.length + 2)}`, error);
}

/** The error for an operation of the store that was rejected. @internal */
export function rejectionError(error: unknown, verb: string, { where }: StoreContext): FrazilError {
  if (FrazilError.is(error)) return error;
  const said = error instanceof Error ? `: ${error.message}` : typeof error === "string" ? `: ${error}` : "";
  return unavailable(`${verb} failed ${where}${said}`, error);
}

/** The error for an operation of the store that took too long. `within`: how long that was. @internal */
export function noAnswer(verb: string, within: string, { store, where }: StoreContext): FrazilError {
  const known = store.waitsFor?.();
  return unavailable(`${verb} had no answer ${within} ${where}${known === undefined ? "" : `: ${known}`}`);
}

const unavailable = (message: string, cause?: unknown) =>
  new LeaseError("STORE_UNAVAILABLE", message, { retryable: true, cause });
