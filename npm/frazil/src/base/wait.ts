/** Waiting and retrying: blocking where the host can, and timers elsewhere. The core decides how long to wait. */

import { monotonicClock } from "./clock.js";
import type { HostAbortSignal } from "./host-types.js";

/** Whether this thread may block; `undefined` until `canBlock` has tried. */
let mayBlock: boolean | undefined;

/**
 * Waits `ms` on a new shared integer of 0 that no other thread has. If `value` is not 0, returns at once.
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

/** The calls that wait with each signal, and their shared listener: many listeners of one signal look like a leak. */
const watched = /* @__PURE__ */ new WeakMap<
  object,
  { readonly calls: Set<() => void>; readonly listener: () => void }
>();

/** Makes `call` when the signal aborts. Returns a function that ends that. */
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

/**
 * The result of a promise, or a rejection with the reason of the signal if that aborts first. A result from before the abort is never
 * discarded: it may be an answer that counts, or a connection.
 */
export async function untilAborted<T>(promise: PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  // A signal that aborted between two waits fires no event for the second one.
  if (signal.aborted) {
    // The caller only learns of the signal, and an unhandled rejection would end the process.
    promise.then(undefined, () => {});
    throw signal.reason;
  }
  let unwatch: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    unwatch = onAbort(signal, () => reject(signal.reason));
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    unwatch?.();
  }
}

/** Wakes each sleeping call. A shared promise would retain everything that waited for it. */
export type Sleeping = Set<() => void>;

/** Wakes all sleeping calls. */
export function wakeAll(sleeping: Sleeping): void {
  for (const wake of [...sleeping]) wake();
}

/**
 * Waits that long or until woken, without blocking the thread. Resolves to the time waited, in milliseconds. Rejects with the reason of the
 * signal if it aborts first.
 */
export async function sleep(ms: number, signal: AbortSignal | undefined, sleeping?: Sleeping): Promise<number> {
  signal?.throwIfAborted();
  const beganMs = monotonicClock();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wake: (() => void) | undefined;
  // A lower bound, so a clock that stands still or shows no number cannot make a call wait forever.
  let leastMs = 0;
  const over = new Promise<void>((resolve) => {
    wake = resolve;
    timer = setTimeout(() => {
      leastMs = ms;
      resolve();
    }, ms);
  });
  sleeping?.add(wake as () => void);
  try {
    await untilAborted(over, signal);
  } finally {
    clearTimeout(timer);
    sleeping?.delete(wake as () => void);
  }
  // A signal can also abort without an event here: while it is read, or if a program made it.
  signal?.throwIfAborted();
  // Timers of a busy thread fire late.
  const waitedMs = monotonicClock() - beganMs;
  return waitedMs > leastMs ? waitedMs : leastMs;
}

/**
 * Calls `attempt` until it succeeds. After a failure it waits as long as `retryMsOf` says, or rejects with the error if that exceeds the
 * rest of `remainingMs`. `wait` resolves to the time waited.
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
