/**
 * The way to the core: a binding (the native addon or the WebAssembly module) and the page of numbers it shares with us.
 *
 * One core serves a whole realm. A second copy or version of the package finds the way to it under a registered symbol, so
 * that both mint from the same states, or refuses where it speaks another version of the page. What lies there is functions
 * only: anybody can find it, and memory that the addon writes to must not be taken away.
 */
import { Host } from "#binding";
import {
  ClockError,
  ConfigError,
  type ErrorCode,
  type ErrorDetails,
  type FrazilError,
  LeaseError,
  refusal,
} from "./errors.js";
import type { withFiles } from "./files.js";
import { CODES, First, MEANINGS, Page, RETRYABLE, RULES, Slot, SUBJECTS } from "./generated/page.js";
import { Rule } from "./generated/rules.js";

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
export interface Files {
  local(page: number): number;
  localAsync(page: number): Promise<number>;
  opened(page: number, ticket: number): number;
  file(page: number, handle: number): number;
}

/** A binding that is ready: its calls, the number of its page, and the memory in which the page lies at `offset`. @internal */
export interface Binding {
  readonly backend: Backend;
  readonly calls: Calls;
  /** What the native addon alone can do. */
  readonly files?: ReturnType<typeof withFiles> | undefined;
  readonly page: number;
  readonly memory: { readonly buffer: ArrayBufferLike };
  /** The buffer of the memory, without asking a getter that can be replaced. */
  readonly buffer: () => ArrayBufferLike;
  readonly offset: number;
  /** Why the preferred backend did not load, where this one stands in for it. */
  readonly causes: readonly unknown[];
  /** Another page of the same core; absent where one page serves all, and nobody uses it across a call of the caller's. */
  readonly again?: (() => Binding) | undefined;
}

/** A binding with typed views of its page. @internal */
export class Port {
  #buffer: ArrayBufferLike | undefined;
  #numbers!: Float64Array;
  #ids!: BigUint64Array;

  constructor(readonly binding: Binding) {}

  /** Takes the views anew where WebAssembly's memory has grown: it moves to a new buffer, and old views go empty. */
  #look(): void {
    const { offset } = this.binding;
    // Remembered, and not asked of a view: the getter that tells could be the user's.
    const buffer = this.binding.buffer();
    if (this.#buffer === buffer) return;
    this.#buffer = buffer;
    this.#numbers = new Float64Array(buffer, offset, Page.NUMBERS);
    this.#ids = new BigUint64Array(buffer, offset + 8 * Page.NUMBERS, Page.IDS);
  }

  /** The slots of the page. */
  get numbers(): Float64Array {
    this.#look();
    return this.#numbers;
  }

  /** The IDs of the page. */
  get ids(): BigUint64Array {
    this.#look();
    return this.#ids;
  }

  /** What the last refusal is about. */
  get subject(): string {
    const subject = SUBJECTS[this.numbers[Slot.SUBJECT] as number];
    return (Host.FILES ? (subject ?? this.binding.files?.subject(this)) : subject) as string;
  }

  /** The error of a status, with what the page says about it. `value` is what the caller passed. */
  error(status: number, value: unknown, details?: ErrorDetails): FrazilError {
    const { numbers } = this;
    const code = CODES[status] as ErrorCode;
    if (Host.FILES) {
      const error = this.binding.files?.error(this, code, status, value, details);
      if (error !== undefined) return error;
    }
    const Class = status < First.ClockError ? ConfigError : status < First.LeaseError ? ClockError : LeaseError;
    const rule = RULES[numbers[Slot.RULE] as number];
    // A count beyond `maxCount` is met by no later call either.
    if (rule === Rule.COUNT_REACH) details = { ...details, maxCount: numbers[Slot.MAX] as number };
    if (rule) {
      return refusal(Class, code, this.subject, value, rule, numbers[Slot.MIN], numbers[Slot.MAX], details);
    }
    const retryAfterMs = numbers[Slot.RETRY_AFTER_MS] as number;
    return new Class(code, MEANINGS[status] + (retryAfterMs ? ` Retry after ${retryAfterMs} ms.` : ""), {
      retryable: RETRYABLE.includes(status),
      ...(retryAfterMs && { retryAfterMs }),
      ...details,
    });
  }
}

/** What the copies of the package in a realm share. @internal */
interface Mark {
  readonly abi: number;
  readonly connect: () => Port;
}

const MARK = /* @__PURE__ */ Symbol.for("frazil");

/** The port of this copy of the package. */
let ours: Port | undefined;

/** The port, on the core that whichever copy in the realm was first got from `load`. @internal */
export function portOf(load: () => Binding): Port {
  if (ours === undefined) {
    const realm = globalThis as { [MARK]?: Mark };
    if (realm[MARK] === undefined) {
      const binding = load();
      ours = new Port(binding);
      realm[MARK] = { abi: Page.ABI, connect: () => new Port((Host.FILES && binding.again?.()) || binding) };
      return ours;
    }
    const { abi, connect } = realm[MARK];
    if (abi !== Page.ABI) {
      throw new ConfigError(
        "STATE_CONFLICT",
        `another version of frazil is loaded here, and its states cannot be shared (page ${abi}, ours ${Page.ABI}): install one version`,
      );
    }
    ours = connect();
  }
  return ours;
}
