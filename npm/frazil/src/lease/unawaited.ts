/**
 * The promise of a generator, for a program that forgot `await`. `leased()` returns a promise only while its isolate has no lease, so such
 * a program passes its tests.
 */
import { ConfigError } from "../base/errors.js";
import { ownOf } from "../base/own-properties.js";

/** The calls that mint. */
const CALLS =
  "next nextString nextNumber tryNext nextMany nextManyStrings fill nextAsync nextStringAsync nextManyAsync nextManyStringsAsync fillAsync";

/** What makes each call of a generator, on its promise, throw what to write: `call`. */
export function refusingUntilAwaited(call: string): <T>(promise: Promise<T>) => Promise<T> {
  const refusals = ownOf<PropertyDescriptorMap>({});
  for (const name of CALLS.split(" ")) {
    const value = () => {
      throw new ConfigError("INVALID_ARGUMENT", `${name}() was called on a promise\nWrite await ${call}.`, {
        field: "this",
      });
    };
    refusals[name] = ownOf({ value });
  }
  return (promise) => Object.defineProperties(promise, refusals);
}
