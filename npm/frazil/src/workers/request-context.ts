/** The common part of the calls that are made in each request. */

import { ConfigError, configError, show } from "../base/errors.js";
import { type Sleeping, sleep, wakeAll } from "../base/wait.js";
import { DurableObjectStore, type LeasesNamespace } from "../stores/durable-object/index.js";
import { isStub } from "../stores/kit/clients.js";
import { waitUntil } from "./runtime.js";

/** The context of a request, as the runtime hands it to `fetch`, `queue`, `scheduled` and others. */
export interface RequestContext {
  waitUntil(promise: Promise<unknown>): void;
}

/** Keeps the program alive until a promise is settled, although the request was answered. */
export type Keep = (promise: Promise<unknown>) => void;

export const keepOf =
  (ctx: RequestContext | undefined): Keep =>
  async (promise) => {
    try {
      if (ctx) return await ctx.waitUntil(promise);
    } catch {
      // A context that is wrapped or taken apart throws "Illegal invocation", or rejects with it. The store is asked already, and the
      // runtime's own call does the same.
    }
    waitUntil(promise);
  };

/** The result of a call belongs to the isolate: `using` in one of them must not close it for all others. */
export function ofIsolate<T extends object>(made: T): T {
  Object.defineProperty(made, Symbol.dispose, { value() {}, configurable: true });
  return Object.defineProperty(made, Symbol.asyncDispose, { async value() {}, configurable: true });
}

/**
 * Waits for what the request has asked of the store itself, for `ms` at most. Resolves to how long that was, in milliseconds.
 *
 * No promise, timer or signal is shared between requests: if a request is cancelled, none of its promises is settled and none of its timers
 * runs, and nothing reports it. The answer counts for other requests too, also if this one does not wait for it to the end.
 *
 * `carried` never rejects. @internal
 */
export function sleepUntil(carried: Promise<unknown>, ms: number, signal: AbortSignal | undefined): Promise<number> {
  waitUntil(carried);
  const sleeping: Sleeping = new Set();
  const waited = sleep(ms, signal, sleeping);
  void carried.then(() => wakeAll(sleeping));
  return waited;
}

/** The stores of namespaces. */
const stores = /* @__PURE__ */ new WeakMap<object, DurableObjectStore>();

/** The store that a call was given, or that of the namespace that it was given: one for each namespace. */
export function storeOf<Store>(
  source: unknown,
  isStore: (source: unknown) => source is Store,
): Store | DurableObjectStore {
  if (isStore(source) && !isStub(source)) return source;
  const known = Object(source) === source ? stores.get(source as object) : undefined;
  const store = known ?? new DurableObjectStore(source as LeasesNamespace);
  stores.set(source as object, store);
  return store;
}

export type Options = { readonly [name: string]: unknown };

/** The time of a `Date`, which is another one in each call; any other value unchanged. */
export const msOfDate = (time: unknown): unknown => (time instanceof Date ? time.getTime() : time);

/** Whether what follows the source in a call is a context. Options may follow it, or take its place. */
export const isContext = (second: unknown): second is RequestContext =>
  typeof (second as RequestContext | undefined)?.waitUntil === "function";

/** @throws {ConfigError} `STATE_CONFLICT` at module scope. `example` is how to call it. */
export function requireRequest(used: string, example: string): void {
  try {
    // The names of leases and attempts are drawn from here.
    crypto.getRandomValues(new Uint8Array(1));
  } catch (cause) {
    const where = "was called at module scope, where a Worker has no clock, random numbers or I/O";
    throw new ConfigError("STATE_CONFLICT", `${used} ${where}\nCall it in each request, as in ${example}.`, { cause });
  }
}

/** What an option must be. */
const textOf = (value: unknown) => (value === undefined ? "left out" : show(value));

/** What an option means, equal for equal options, with its default if it was not given. */
type MeaningOf = (name: string, options: Options) => unknown;

/** The name of an option that differs from that of the first call, and what it was then. */
export function differenceOf(
  first: Options = {},
  given: Options = {},
  meaningOf: MeaningOf = (name, options) => options[name],
): [name: string, before: unknown] | undefined {
  if (first === given) return undefined;
  for (const name of Object.keys({ ...first, ...given })) {
    if (first[name] === given[name]) continue;
    const before = meaningOf(name, first);
    if (!Object.is(before, meaningOf(name, given))) return [name, before];
  }
  return undefined;
}

/** Refuses options that differ from those of the first call. `call` and `why` say of which call, and what to do. */
export function checkSame(
  first: Options | undefined,
  given: Options | undefined,
  call: string,
  why: string,
  meaningOf?: MeaningOf,
): void {
  const [name, before] = differenceOf(first, given, meaningOf) ?? [];
  if (name === undefined) return;
  const rule = `must be ${textOf(before)}, as in the first call of ${call}\nAn isolate has one ${why}.`;
  throw configError("STATE_CONFLICT", name, given?.[name], rule);
}
