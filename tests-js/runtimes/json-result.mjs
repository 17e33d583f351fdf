// How a result leaves a runtime as JSON: what was returned, or why not.

/** Inside the runtime. */
export async function report(work) {
  try {
    return { result: await work() };
  } catch (error) {
    return { error: `${error?.stack ?? error}` };
  }
}

/** On the side of Node: the result, or the error as ours. */
export function unwrap({ result, error }) {
  if (error !== undefined) throw new Error(error);
  return result;
}
