/**
 * The way to the core: a binding (the native addon or the WebAssembly module) and the page of numbers it shares with us.
 *
 * One core serves a whole realm. A second copy or version of the package finds the way to it under a registered symbol, so
 * that both mint from the same states, or refuses where it speaks another version of the page. What lies there is functions
 * only: anybody can find it, and memory that the addon writes to must not be taken away.
 */
import { Host } from "#binding";
import type { Binding } from "./boundary.js";
import {
  ClockError,
  ConfigError,
  type ErrorCode,
  type ErrorDetails,
  type FrazilError,
  LeaseError,
  refusal,
} from "./errors.js";
import type { StateFiles } from "./files.js";
import { CODES, First, MEANINGS, Page, RETRYABLE, RULES, Slot, SUBJECTS } from "./generated/page.js";
import { Rule } from "./generated/rules.js";

/** A binding with typed views of its page. @internal */
export class Port {
  #buffer: ArrayBufferLike | undefined;
  #numbers!: Float64Array;
  #ids!: BigUint64Array;

  constructor(readonly binding: Binding<StateFiles>) {}

  /** Takes the views anew where WebAssembly's memory has grown: it moves to a new buffer, and old views go empty. */
  #refreshViews(): void {
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
    this.#refreshViews();
    return this.#numbers;
  }

  /** The IDs of the page. */
  get ids(): BigUint64Array {
    this.#refreshViews();
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

/** Calls that outlive a generator, so they must not hold it. */
export function releaserOf({ binding: { calls, page } }: Port, handle: number): () => void {
  return () => calls.release(page, handle);
}

/** What the copies of the package in a realm share. @internal */
interface SharedCore {
  readonly abi: number;
  readonly connect: () => Port;
}

const SHARED_CORE = /* @__PURE__ */ Symbol.for("frazil");

/** The port of this copy of the package. */
let ownPort: Port | undefined;

/** The port, on the core that whichever copy in the realm was first got from `load`. @internal */
export function sharedPort(load: () => Binding<StateFiles>): Port {
  if (ownPort === undefined) {
    const realm = globalThis as { [SHARED_CORE]?: SharedCore };
    if (realm[SHARED_CORE] === undefined) {
      const binding = load();
      ownPort = new Port(binding);
      realm[SHARED_CORE] = {
        abi: Page.ABI,
        connect: () => new Port((Host.FILES && binding.anotherPage?.()) || binding),
      };
      return ownPort;
    }
    const { abi, connect } = realm[SHARED_CORE];
    if (abi !== Page.ABI) {
      throw new ConfigError(
        "STATE_CONFLICT",
        `another version of frazil is loaded here, and its states cannot be shared (page ${abi}, ours ${Page.ABI}): install one version`,
      );
    }
    ownPort = connect();
  }
  return ownPort;
}
