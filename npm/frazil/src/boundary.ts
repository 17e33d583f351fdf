/** The boundary to the core: the types that the bindings and the rest of the package have in common. Imports nothing. */

/** Where the core runs. */
export type Backend = "native" | "wasm";

/** The calls of both bindings, by the same names in the same order. They take and return numbers; see `crates/core/src/page.rs`. @internal */
export interface Calls {
  open(page: number): number;
  release(page: number, handle: number): void;
  admit(page: number, handle: number, count: number, waitMs: number): number;
  reserve(page: number, handle: number, nowMs: number, want: number, confirmed: boolean): number;
  next(page: number, handle: number, nowMs: number, confirmed: boolean): bigint;
  health(page: number, handle: number, nowMs: number): number;
}

/** The calls that only the native addon has, with the same names as in `crates/napi`. @internal */
export interface FileCalls {
  local(page: number): number;
  localAsync(page: number): Promise<number>;
  opened(page: number, ticket: number): number;
  file(page: number, handle: number): number;
}

/** A binding that is ready: its calls, the number of its page, and the memory in which the page lies at `offset`. @internal */
export interface Binding<Files = never> {
  readonly backend: Backend;
  readonly calls: Calls;
  /** What the native addon alone can do. */
  readonly files?: Files | undefined;
  readonly page: number;
  readonly memory: { readonly buffer: ArrayBufferLike };
  /** The buffer of the memory, without asking a getter that can be replaced. */
  readonly buffer: () => ArrayBufferLike;
  readonly offset: number;
  /** Why the preferred backend did not load, where this one stands in for it. */
  readonly causes: readonly unknown[];
  /** Another page of the same core; absent where one page serves all, and nobody uses it across a call of the caller's. */
  readonly anotherPage?: (() => Binding<Files>) | undefined;
}
