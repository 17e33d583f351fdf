// What calls throw, as the Workers of these tests answer it.
import { FrazilError } from "frazil";

/** What a call returns, as text, or what it throws. */
export function refusal(call) {
  try {
    return { returned: String(call()) };
  } catch (error) {
    return dataOf(error);
  }
}

export function dataOf(error) {
  const { code, message, hint, field, retryAfterMs, retryable, cause } = error;
  return { ours: FrazilError.is(error), code, message, hint, field, retryAfterMs, retryable, cause: cause?.code };
}
