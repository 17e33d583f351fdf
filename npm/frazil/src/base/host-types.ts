/**
 * Types of the host that not every program declares, so the declarations compile without the types of a browser, Node or Workers, and with
 * `lib: ["es2022"]` alone. Everything imports this file, directly or through `generator/options.ts` or `stores/lease-store.ts`.
 */

declare global {
  // As in `lib.esnext.disposable.d.ts` and `@types/node`, with which these merge. A reference to that library would also declare classes
  // that Node 20 lacks.
  interface SymbolConstructor {
    readonly dispose: unique symbol;
    readonly asyncDispose: unique symbol;
  }
}

/** The used part of a signal. */
interface SignalMembers {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** The `AbortSignal` of the host; in a program without that type, the part that frazil uses. */
export type HostAbortSignal = typeof globalThis extends { AbortSignal: { prototype: infer Signal } }
  ? Signal
  : SignalMembers;
