/**
 * The way to the core: a binding (the native addon or the WebAssembly module) and the page of numbers it shares with us.
 *
 * One port serves a whole realm. A second copy or version of the package finds it under a registered symbol and shares it,
 * so that both mint from the same states, or refuses where it speaks another version of the page.
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
  file(page: number, handle: number): number;
}

/** A binding that is ready: its calls, the number of its page, and the memory in which the page lies at `offset`. @internal */
export interface Binding {
  readonly backend: Backend;
  readonly calls: Calls;
  /** What the native addon alone can do. */
  readonly files?: ReturnType<typeof withFiles>;
  readonly page: number;
  readonly memory: { readonly buffer: ArrayBufferLike };
  readonly offset: number;
  /** Why the preferred backend did not load, where this one stands in for it. */
  readonly causes: readonly unknown[];
}

/** A binding with typed views of its page. @internal */
export class Port {
  readonly abi = Page.ABI;
  #numbers: Float64Array | undefined;
  #ids: BigUint64Array | undefined;

  constructor(readonly binding: Binding) {}

  /** The slots of the page. WebAssembly memory that grows moves to a new buffer, and old views go empty. */
  get numbers(): Float64Array {
    const { memory, offset } = this.binding;
    if (this.#numbers?.buffer !== memory.buffer) this.#numbers = new Float64Array(memory.buffer, offset, Page.NUMBERS);
    return this.#numbers;
  }

  /** The IDs of the page. */
  get ids(): BigUint64Array {
    const { memory, offset } = this.binding;
    if (this.#ids?.buffer !== memory.buffer)
      this.#ids = new BigUint64Array(memory.buffer, offset + 8 * Page.NUMBERS, Page.IDS);
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

const MARK = /* @__PURE__ */ Symbol.for("frazil");

/** The realm's port, made with `load` by whoever needs it first. @internal */
export function portOf(load: () => Binding): Port {
  const realm = globalThis as { [MARK]?: Port };
  realm[MARK] ??= new Port(load());
  const port = realm[MARK];
  if (port.abi !== Page.ABI) {
    throw new ConfigError(
      "STATE_CONFLICT",
      `another version of frazil is loaded here, and its states cannot be shared (page ${port.abi}, ours ${Page.ABI}): install one version`,
    );
  }
  return port;
}
