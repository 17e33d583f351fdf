/**
 * Types that a host has and that not every program knows, so that the declarations compile without the types of a browser, of Node or
 * of Workers, and with `lib: ["es2022"]` alone. Everything imports this file, directly or through `generator/options.ts` or
 * `stores/lease-store.ts`.
 */

declare global {
  // As `lib.esnext.disposable.d.ts` and `@types/node` declare them, with which these merge. A reference to that library would also
  // declare classes that Node 20 does not have.
  interface SymbolConstructor {
    readonly dispose: unique symbol;
    readonly asyncDispose: unique symbol;
  }
}

/** What is used of a signal. */
interface SignalMembers {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** The `AbortSignal` of the host; where a program has no type of that name, what frazil uses of it. */
export type HostAbortSignal = typeof globalThis extends { AbortSignal: { prototype: infer Signal } }
  ? Signal
  : SignalMembers;
