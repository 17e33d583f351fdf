import { DurableObjectStore } from "../stores/durable-object/index.js";
/** The context of a request, as the runtime hands it to `fetch`, `queue`, `scheduled` and others. */
export interface RequestContext {
    waitUntil(promise: Promise<unknown>): void;
}
/** Keeps the program alive until a promise is settled, although the request was answered. */
export type Keep = (promise: Promise<unknown>) => void;
export declare const keepOf: (ctx: RequestContext | undefined) => Keep;
/** What a call returns in each request belongs to the isolate: `using` in one of them must not close it for all others. */
export declare function ofIsolate<T extends object>(made: T): T;
/** The store that a call was given, or that of the namespace that it was given: one for each namespace. */
export declare function storeOf<Store>(source: unknown, isStore: (source: unknown) => source is Store): Store | DurableObjectStore;
export type Options = {
    readonly [name: string]: unknown;
};
/** The time of a `Date`, which is another one in each call; any other value unchanged. */
export declare const msOfDate: (time: unknown) => unknown;
/** Whether what follows the source in a call is a context. Options may follow it, or take its place. */
export declare const isContext: (second: unknown) => second is RequestContext;
/** @throws {ConfigError} `STATE_CONFLICT` at module scope. `example` is how to call it. */
export declare function requireRequest(used: string, example: string): void;
/** What an option means, equal for equal options, with its default if it was not given. */
type MeaningOf = (name: string, options: Options) => unknown;
/** The name of an option that differs from that of the first call, and what it was then. */
export declare function differenceOf(first?: Options, given?: Options, meaningOf?: MeaningOf): [name: string, before: unknown] | undefined;
/** Refuses options that differ from those of the first call. `call` and `why` say of which call, and what to do. */
export declare function checkSame(first: Options | undefined, given: Options | undefined, call: string, why: string, meaningOf?: MeaningOf): void;
export {};
