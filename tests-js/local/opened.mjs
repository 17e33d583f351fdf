// Generators of state files in folders that are removed after the test.
import { Snowflake } from "frazil";

export const times = (count, call) => Array.from({ length: count }, (_, at) => call(at));
export const increasing = (ids) => ids.every((id, at) => at === 0 || ids[at - 1] < id);
export const [none, reason] = [new AbortController().signal, new Error("enough")];

/** A generator that is closed when the test ends. */
export function opened(t, options) {
  const ids = Snowflake.local(options);
  t.after(ids.close);
  return ids;
}
