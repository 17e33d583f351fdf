/**
 * The connection to the core: a binding (the native addon or the WebAssembly module) and the frame, a block of memory
 * that both sides read and write.
 *
 * A realm has one core. A second copy of the package finds it under a registered symbol, so that both copies mint from
 * the same states. If the versions of the frame differ, the second copy throws `STATE_CONFLICT`. The symbol leads only to functions: any
 * code can find it, but must not be able to transfer the memory that the addon writes to.
 */
import { Host } from "#binding";
import { Doubles, Halves, Ids } from "../base/arrays.js";
import {
  ClockError,
  ConfigError,
  type ErrorCode,
  type ErrorDetails,
  type FrazilError,
  LeaseError,
  refusal,
  withoutRule,
} from "../base/errors.js";
import { CODES, First, Frame, MEANINGS, RETRYABLE, RULES, Slot, SUBJECTS } from "../generated/abi.js";
import { Rule } from "../generated/rules.js";
import type { Layout } from "../layout/index.js";
import type { Binding } from "./boundary.js";
import { clockText } from "./clock-text.js";
import type { StateFiles } from "./state-files.js";

type Numbered<T> = { readonly [number: number]: T };
/** The codes, rules, subjects and meanings that only one kind of call answers with. @internal */
export type Answers = readonly [
  codes: Numbered<ErrorCode>,
  rules: Numbered<Rule>,
  subjects: Numbered<string>,
  meanings?: Numbered<string>,
];

/**
 * A binding with typed views of its frame. They extend to the end of the memory, because the states of lines lie behind the frame.
 *
 * @internal
 */
export class Port {
  #buffer: ArrayBufferLike | undefined;
  /** `numbers` and `ids`, without checking whether the memory has grown. If it has, these views are empty. */
  doubles!: Float64Array;
  wholes!: BigUint64Array;
  /** The halves of `wholes`. */
  words!: Uint32Array;

  constructor(readonly binding: Binding<StateFiles>) {}

  /** Makes new views if WebAssembly's memory has grown: then it has a new buffer, and old views have length 0. */
  #refreshViews(): void {
    const { offset } = this.binding;
    // With constructors captured at load: a replaced one could return a proxy, which would run user code between reading and writing a
    // word. The buffer is in a field instead of read from a view: a program can replace the getter.
    const buffer = this.binding.buffer();
    if (this.#buffer === buffer) return;
    this.#buffer = buffer;
    this.doubles = new Doubles(buffer, offset);
    this.wholes = new Ids(buffer, offset + 8 * Frame.NUMBERS);
    this.words = new Halves(buffer, offset + 8 * Frame.NUMBERS);
  }

  /** The slots of the frame: numbers by `Slot`. */
  get numbers(): Float64Array {
    this.#refreshViews();
    return this.doubles;
  }

  /** The IDs of the frame. */
  get ids(): BigUint64Array {
    this.#refreshViews();
    return this.wholes;
  }

  /** The name of the option or argument in the last refusal. */
  get subject(): string {
    const subject = SUBJECTS[this.numbers[Slot.SUBJECT] as number];
    return (Host.FILES ? (subject ?? this.binding.files?.subject(this)) : subject) as string;
  }

  /**
   * The error for a status, with the details from the frame. `value`: the caller's input, or the time of a minting call, which has a
   * `layout`. `isForgotten` and `stoodMs`: see `clockText`.
   */
  error(
    status: number,
    value: unknown,
    details?: ErrorDetails,
    answers?: Answers,
    layout?: Layout,
    isForgotten = false,
    stoodMs = 0,
  ): FrazilError {
    const { numbers } = this;
    const code = (answers?.[0][status] ?? CODES[status]) as ErrorCode;
    if (Host.FILES) {
      const error = this.binding.files?.error(this, code, status, value, details);
      if (error !== undefined) return error;
    }
    const Class = status < First.ClockError ? ConfigError : status < First.LeaseError ? ClockError : LeaseError;
    const at = numbers[Slot.RULE] as number;
    const rule = answers?.[1][at] ?? RULES[at];
    // A call with a count beyond `maxCount` never succeeds, so the error names that limit.
    if (rule === Rule.COUNT_REACH) details = { ...details, maxCount: numbers[Slot.MAX] as number };
    if (rule) {
      const subject = answers?.[2][numbers[Slot.SUBJECT] as number] ?? this.subject;
      return refusal(Class, code, subject, value, rule, numbers[Slot.MIN], numbers[Slot.MAX], details);
    }
    const retryAfterMs = numbers[Slot.RETRY_AFTER_MS] as number;
    const times = layout && clockText(code, value, retryAfterMs, layout, isForgotten, stoodMs);
    const said = times || (answers?.[3] ?? MEANINGS)[status];
    return withoutRule(Class, code, said, RETRYABLE.includes(status), retryAfterMs, details);
  }
}

/** Releases the handle of an object that was garbage-collected and never closed. Workers with a compatibility date before 2025-05-05
 * have no `FinalizationRegistry`. */
export const unclosed =
  typeof FinalizationRegistry === "undefined"
    ? undefined
    : /* @__PURE__ */ new FinalizationRegistry<() => void>((release) => release());

/** Releases a handle. It outlives the generator, so it must not refer to it. */
export function releaserOf({ binding: { calls, frame } }: Port, handle: number): () => void {
  return () => calls.release(frame, handle);
}

/** Shared by the copies of the package in a realm: see the top of the file. @internal */
interface SharedCore {
  readonly abi: number;
  readonly connect: () => Port;
}

const SHARED_CORE = /* @__PURE__ */ Symbol.for("frazil");

/** The port of this copy of the package. */
let ownPort: Port | undefined;

/** The port of this copy, on the core that the first copy in the realm loaded. @internal */
export function sharedPort(load: () => Binding<StateFiles>): Port {
  if (ownPort === undefined) {
    const realm = globalThis as { [SHARED_CORE]?: SharedCore };
    if (realm[SHARED_CORE] === undefined) {
      const binding = load();
      const connect = () => new Port((Host.FILES && binding.anotherFrame?.()) || binding);
      if (!Reflect.set(realm, SHARED_CORE, { abi: Frame.ABI, connect }))
        throw new ConfigError(
          "STATE_CONFLICT",
          "globalThis is frozen, so copies of frazil cannot share states\nFreeze it after the first generator.",
        );
      ownPort = new Port(binding);
      return ownPort;
    }
    const { abi, connect } = realm[SHARED_CORE];
    if (abi !== Frame.ABI) {
      throw new ConfigError(
        "STATE_CONFLICT",
        `another version of frazil is loaded here, and its states cannot be shared (frame ${abi}, ours ${Frame.ABI})\nInstall one version.`,
      );
    }
    ownPort = connect();
  }
  return ownPort;
}
