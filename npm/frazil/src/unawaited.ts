/**
 * The promise of a generator, for a program that forgot `await`. `leased()` returns a promise only while its isolate has no lease, so such
 * a program passes its tests.
 */
import { ConfigError } from "./errors.js";
import { ownOf } from "./own-properties.js";

const CALLS =
  "next nextString nextNumber tryNext nextMany nextManyStrings fill nextAsync nextStringAsync nextManyAsync nextManyStringsAsync fillAsync";

/** The promise, on which each call of a generator throws what to write. */
export function untilAwaited<T>(promise: Promise<T>, call: string): Promise<T> {
  for (const name of CALLS.split(" ")) {
    const value = () => {
      throw new ConfigError(
        "INVALID_ARGUMENT",
        `${name}() is a call of the generator, and this is the promise of one: await ${call}`,
        { field: "this" },
      );
    };
    Object.defineProperty(promise, name, ownOf({ value }));
  }
  return promise;
}
