/** Waiting, where the host can: the core only says until when. */

/** Whether this thread may block; `undefined` until it was tried. */
let blocks: boolean | undefined;
let cell: Int32Array | undefined;

/**
 * Whether this thread may block: Node, Bun and Deno may, and workers of a page that is cross-origin isolated; a page and
 * Cloudflare Workers may not.
 */
export function canBlock(): boolean {
  if (blocks === undefined) {
    try {
      cell = new Int32Array(new SharedArrayBuffer(4));
      // The cell holds 0, not 1, so this returns at once where blocking is allowed, and throws where it is not.
      Atomics.wait(cell, 0, 1, 0);
      blocks = true;
    } catch {
      blocks = false;
    }
  }
  return blocks;
}

/** Blocks the thread. Only where `canBlock`. */
export function block(ms: number): void {
  Atomics.wait(cell as Int32Array, 0, 0, ms);
}

/** Waits without holding the thread. Rejects with the signal's reason when it aborts. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    // A signal that was aborted between two waits fires no event for the second.
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
