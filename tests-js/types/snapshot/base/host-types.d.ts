declare global {
    interface SymbolConstructor {
        readonly dispose: unique symbol;
        readonly asyncDispose: unique symbol;
    }
}
interface SignalMembers {
    readonly aborted: boolean;
    readonly reason: unknown;
    throwIfAborted(): void;
    addEventListener(type: "abort", listener: () => void): void;
    removeEventListener(type: "abort", listener: () => void): void;
}
export type HostAbortSignal = typeof globalThis extends {
    AbortSignal: {
        prototype: infer Signal;
    };
} ? Signal : SignalMembers;
export {};
