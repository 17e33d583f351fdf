/** Waiting and retrying: blocking where the host can, and timers elsewhere. The core decides how long to wait. */

import { monotonicClock } from "./clock.js";
import type { HostAbortSignal } from "./host-types.js";

/** Whether this thread may block; `undefined` until `canBlock` has tried. */
let mayBlock: boolean | undefined;

/**
 * Waits `ms` on a new shared integer that holds 0 and that no other thread has. If `value` is not 0, returns at once.
 */
const waitOnCell = (value: number, ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, value, ms);

/**
 * Whether this thread may block. Node, Bun and Deno may, and so may workers of a page that is cross-origin isolated.
 * The main thread of a page and Cloudflare Workers may not.
 */
export function canBlock(): boolean {
  if (mayBlock === undefined) {
    try {
      // Returns at once if blocking is allowed, and throws if it is not.
      waitOnCell(1, 0);
      mayBlock = true;
    } catch {
      mayBlock = false;
    }
  }
  return mayBlock;
}

/** Blocks the thread. Requires `canBlock()`. */
export function block(ms: number): void {
  waitOnCell(0, ms);
}

/** The calls that wait with each signal, and the listener that they share: many listeners of one signal are taken for a leak. */
const watched = /* @__PURE__ */ new WeakMap<
  object,
  { readonly calls: Set<() => void>; readonly listener: () => void }
>();

/** Makes `call` when the signal aborts. Returns what ends that. */
export function onAbort(signal: HostAbortSignal, call: () => void): () => void {
  let watch = watched.get(signal);
  if (watch === undefined) {
    const calls = new Set<() => void>();
    const listener = () => {
      for (const call of calls) call();
    };
    watch = { calls, listener };
    // The signal may be an object of the user, whose methods may throw.
    signal.addEventListener("abort", listener);
    watched.set(signal, watch);
  }
  const { calls, listener } = watch;
  calls.add(call);
  return () => {
    if (!calls.delete(call) || calls.size > 0) return;
    watched.delete(signal);
    signal.removeEventListener("abort", listener);
  };
}

/** Waits for a promise. Rejects with the reason of the signal if it aborts first. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  // A signal that aborted between two waits fires no event for the second one.
  signal?.throwIfAborted();
  let unwatch: (() => void) | undefined;
  try {
    const aborted = new Promise<void>((resolve) => {
      unwatch = signal && onAbort(signal, resolve);
    });
    await Promise.race([promise, aborted]);
  } finally {
    unwatch?.();
  }
  signal?.throwIfAborted();
  return promise;
}

/**
 * How long a wait has taken that began at `beganMs`: the timer of a busy thread is late. At least `leastMs`, so that a clock that stands
 * still, or shows no number, does not make a call wait for ever.
 */
export function waitedSince(beganMs: number, leastMs: number): number {
  const ms = monotonicClock() - beganMs;
  return ms > leastMs ? ms : leastMs;
}

/**
 * Waits without blocking the thread. Resolves to how long that was, in milliseconds. Rejects with the reason of the signal if it
 * aborts first.
 */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<number> {
  const beganMs = monotonicClock();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await unlessAborted(over, signal);
  } finally {
    clearTimeout(timer);
  }
  return waitedSince(beganMs, ms);
}

/**
 * Calls `attempt` until it succeeds. After a failure it waits as long as `retryMsOf` says, and rejects with the error
 * if that is more than what is left of `remainingMs`. `wait` resolves to how long it waited.
 */
export async function retry<T>(
  attempt: () => T,
  signal: AbortSignal | undefined,
  remainingMs: number,
  retryMsOf: (error: unknown, remainingMs: number) => number,
  wait: (ms: number, signal: AbortSignal | undefined, error: unknown) => Promise<number>,
): Promise<T> {
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      const retryMs = retryMsOf(error, remainingMs);
      if (!(retryMs <= remainingMs)) throw error;
      remainingMs -= await wait(retryMs, signal, error);
    }
  }
}
