/** Waiting, where the host can: the core only says until when. */

import { ClockError, type FrazilError } from "./errors.js";
import { ownOf } from "./own.js";

/** Whether this thread may block; `undefined` until it was tried. */
let mayBlock: boolean | undefined;

/** Waits at a cell that holds 0 and that nobody else has: for `ms`, or not at all where the value is another. */
const waitOnCell = (value: number, ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, value, ms);

/**
 * Whether this thread may block: Node, Bun and Deno may, and workers of a page that is cross-origin isolated; a page and
 * Cloudflare Workers may not.
 */
export function canBlock(): boolean {
  if (mayBlock === undefined) {
    try {
      // Returns at once where blocking is allowed, and throws where it is not.
      waitOnCell(1, 0);
      mayBlock = true;
    } catch {
      mayBlock = false;
    }
  }
  return mayBlock;
}

/** Blocks the thread. Only where `canBlock`. */
export function block(ms: number): void {
  waitOnCell(0, ms);
}

/** Waits for a promise. Rejects with the signal's reason when it aborts. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  // A signal that was aborted between two waits fires no event for the second.
  signal?.throwIfAborted();
  let stop: (() => void) | undefined;
  try {
    const aborted = new Promise<void>((resolve) => {
      stop = resolve;
      signal?.addEventListener("abort", stop, ownOf({ once: true }));
    });
    await Promise.race([promise, aborted]);
  } finally {
    // Whatever the signal does, which may be one of the user's own.
    signal?.removeEventListener("abort", stop as () => void);
  }
  signal?.throwIfAborted();
  return promise;
}

/** Waits without holding the thread. Rejects with the signal's reason when it aborts. */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await unlessAborted(over, signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Milliseconds until the call that the core refused can first succeed; without end where waiting does not help. */
export function retryMsOf(error: FrazilError): number {
  const { retryAfterMs = 0 } = ownOf(error);
  return error instanceof ClockError && retryAfterMs > 0 ? retryAfterMs : Infinity;
}

/** Tries, waits for as long as the refusal says, and tries again, until `restMs` are spent. */
export async function retry<T>(
  attempt: () => T,
  signal: AbortSignal | undefined,
  restMs: number,
  retryMsOf: (error: unknown, restMs: number) => number,
): Promise<T> {
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      const retryMs = retryMsOf(error, restMs);
      if (retryMs > restMs) throw error;
      restMs -= retryMs;
      await sleep(retryMs, signal);
    }
  }
}
