/** How long a call that sets a store up, such as `migrate()`, may take. */
import { storeUnavailable } from "./errors.js";

/** How long a call of those who run a store may take. Some clients keep a statement for ever while they have no connection. */
const SET_UP_MS = 10_000;

/** Runs a call such as `migrate()`, which is given no signal, within `SET_UP_MS`. The timer keeps the process alive. */
export async function withinLimit<T>(
  store: { readonly name: string; waitsFor?(): string | undefined },
  call: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    const known = store.waitsFor?.();
    controller.abort(
      storeUnavailable(
        `${call} had no answer within ${SET_UP_MS} ms in the ${store.name} store, so it is unknown whether it took place${known === undefined ? "" : `: ${known}`}`,
      ),
    );
  }, SET_UP_MS);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}
