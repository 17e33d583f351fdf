/** The errors of what asks a store: an answer that cannot be true, a rejection and a time-out. */
import { FrazilError, LeaseError } from "../base/errors.js";
import { fromOutside } from "../base/outside-text.js";

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

/** The error for an operation of the store that was rejected. Throws nothing, whatever it was rejected with. @internal */
export function rejectionError(error: unknown, verb: string, { where }: StoreContext): FrazilError {
  let said: unknown;
  try {
    if (FrazilError.is(error)) return error;
    // By its message: an error of another realm is no `Error` of this one.
    said = typeof error === "string" ? error : (error as Partial<Error> | null | undefined)?.message;
  } catch {
    said = "the error cannot be read";
  }
  return unavailable(`${verb} failed ${where}${typeof said === "string" ? `: ${fromOutside(said)}` : ""}`, error);
}

/** The error for an operation of the store that took too long. `within`: how long that was. @internal */
export function noAnswer(verb: string, within: string, context: StoreContext): FrazilError {
  const said = `${verb} had no answer ${within}`;
  try {
    const known = context.store.waitsFor?.();
    if (known === undefined) return unavailable(`${said} ${context.where}`);
    // The stores of the package write what to do after a line break.
    const [fact, ...hint] = `${known}`.split("\n");
    return unavailable(`${said} ${context.where}: ${fromOutside(fact)}\n${fromOutside(hint.join(" "))}`);
  } catch (error) {
    return rejectionError(error, `${said}, and waitsFor()`, context);
  }
}

const unavailable = (message: string, cause?: unknown) =>
  new LeaseError("STORE_UNAVAILABLE", message, { retryable: true, cause });
