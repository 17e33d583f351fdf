// How a result leaves a runtime as JSON: the value that was returned, or the error.

/** Runs inside the runtime: calls `work`, and wraps its value or its error. */
export async function resultOf(work) {
  try {
    return { result: await work() };
  } catch (error) {
    return { error: `${error?.stack ?? error}` };
  }
}

/** Runs in Node: returns the value, or throws the error of the runtime. */
export function unwrap({ result, error }) {
  if (error !== undefined) throw new Error(error);
  return result;
}
