/**
 * The boundary to the core: the types that the bindings and the rest of the package share. Imports nothing, so it is in no import cycle.
 *
 * Copies of the package in one realm use each other's `Binding`, so versions of the package with the same `Frame.ABI`
 * must have the same names here.
 */

/** Where the core runs. */
export type Backend = "native" | "wasm";

/**
 * The calls of the core that both bindings have, by the same names in the same order. They take and return numbers, and
 * read and write the frame: see `crates/core/src/abi`.
 *
 * @internal
 */
export interface Calls {
  open(frame: number): number;
  release(frame: number, handle: number): void;
  admit(frame: number, handle: number, count: number, waitMs: number): number;
  reserve(frame: number, handle: number, nowMs: number, want: number, confirmed: boolean): number;
  health(frame: number, handle: number, nowMs: number): number;
  lease(frame: number, handle: number, call: number): number;
  ceiling(frame: number, handle: number, call: number): number;
  segment(frame: number, handle: number, call: number): number;
}

/**
 * Reserves IDs, and writes them into the elements that the frame names. Only the native addon has it: WebAssembly cannot write into a
 * caller's array. The status is that of `reserve`.
 *
 * @internal
 */
export interface ArrayCalls {
  fill(frame: number, handle: number, nowMs: number, confirmed: boolean, target: BigUint64Array): number;
}

/**
 * An `ArrayBuffer` over a part of the memory of a line; `null` if there is none. Only the native addon has it: JavaScript already sees the
 * memory of WebAssembly. See `crates/core/src/abi/line.rs`.
 *
 * @internal
 */
export interface LineCalls {
  lineMemory(frame: number, handle: number, part: LinePart): ArrayBuffer | null;
}

/** The parts of `lineMemory`, by number. @internal */
export enum LinePart {
  SLOTS = 0,
  WORD = 1,
  WINDOW = 2,
}

/** The calls for state files, which only the native addon has. The names are those of `crates/napi`. @internal */
export interface FileCalls {
  local(frame: number): number;
  localAsync(frame: number): number;
  whenOpened(ticket: number): Promise<void>;
  opened(frame: number, ticket: number): number;
  abandon(ticket: number): void;
  defaultDir(): string | null;
  file(frame: number, handle: number): number;
}

/** A loaded binding: its calls, the number of its frame, and the memory that holds the frame at `offset`. @internal */
export interface Binding<Files = never> {
  readonly backend: Backend;
  readonly calls: Calls;
  /** State files, on the native addon only. The type parameter is that of `state-files.ts`, which this file need not import. */
  readonly files?: Files | undefined;
  /** `calls`, if the addon has them: it fills arrays of the caller. */
  readonly arrays?: ArrayCalls | undefined;
  /** `calls`, if the addon has them and the engine swaps words atomically. */
  readonly lines?: LineCalls | undefined;
  readonly frame: number;
  readonly memory: { readonly buffer: ArrayBufferLike };
  /** The buffer of the memory, read without a getter that a program can replace. */
  readonly buffer: () => ArrayBufferLike;
  readonly offset: number;
  /** Why the native addon did not load, if this binding is the fallback. */
  readonly causes: readonly unknown[];
  /**
   * Another frame of the same core. Absent on WebAssembly: there all copies of the package share one frame, and none leaves data in it
   * while user code runs.
   */
  readonly anotherFrame?: (() => Binding<Files>) | undefined;
}
