import { DurableObjectStore } from "../stores/durable-object/index.js";
export interface RequestContext {
    waitUntil(promise: Promise<unknown>): void;
}
export type Keep = (promise: Promise<unknown>) => void;
export declare const keepOf: (ctx: RequestContext | undefined) => Keep;
export declare function ofIsolate<T extends object>(made: T): T;
export declare function storeOf<Store>(source: unknown, isStore: (source: unknown) => source is Store): Store | DurableObjectStore;
export type Options = {
    readonly [name: string]: unknown;
};
export declare const msOfDate: (time: unknown) => unknown;
export declare const isContext: (second: unknown) => second is RequestContext;
export declare function requireRequest(used: string, example: string): void;
type MeaningOf = (name: string, options: Options) => unknown;
export declare function differenceOf(first?: Options, given?: Options, meaningOf?: MeaningOf): [name: string, before: unknown] | undefined;
export declare function checkSame(first: Options | undefined, given: Options | undefined, call: string, why: string, meaningOf?: MeaningOf): void;
export {};
