/**
 * The core's rules of public IDs: a WebAssembly module of their own, which has one frame and no other state. What keys became is bytes,
 * which JavaScript keeps, and which the frame holds during a call (`crates/core/src/abi/public.rs`).
 *
 * * **No user code runs during a call**, so that all objects of a program can share the frame.
 * * **A call that ends halfway** (a stack overflow, a timeout of `node:vm`) leaves nothing behind: the next one gets another instance.
 */
import { HINT, load } from "#public";
import { copyIds, Ids, lengthOf } from "../base/arrays.js";
import { wasmUnavailable } from "../core/binding/wasm.js";
import { Place } from "../generated/public.js";
import type { Exports } from "./exports.js";

/** What the keys of a list became, for one kind, form and layout, after their count. Secret. */
export type Opened = BigUint64Array;

/** An instance with views of its frame. Its memory never grows. */
interface Core {
  readonly exports: Exports;
  /** An ID, or the fingerprint of a key; after a refusal the position in a text, or the last slot. */
  readonly id: BigUint64Array;
  readonly text: Uint8Array;
  readonly opened: Opened;
}

let instance: Core | undefined;
/** The keys in the frame. */
let current: Opened | undefined;

/** @throws {ConfigError} `WASM_UNAVAILABLE` with the cause. */
function connect(): Core {
  try {
    const exports = load();
    const { buffer } = exports.memory;
    const frame = exports.frame();
    const openedAt = frame + Place.ID_BYTES + Place.TEXT_BYTES;
    instance = {
      exports,
      id: new Ids(buffer, frame, 1),
      text: new Uint8Array(buffer, frame + Place.ID_BYTES, Place.TEXT_BYTES),
      opened: new Ids(buffer, openedAt, 1 + (Place.MAX_KEYS * Place.OPENED_BYTES) / 8),
    };
    return instance;
  } catch (error) {
    throw wasmUnavailable(error, undefined, HINT);
  }
}

/** Whether a call is running; or one ended halfway, maybe by a timeout of `node:vm`, which no `catch` sees. */
let isInside = false;

/** The instance, or another one after a call that ended halfway. */
export function core(): Core {
  if (instance && !isInside) return instance;
  current = undefined;
  const made = connect();
  isInside = false;
  return made;
}

/** The instance, with these keys in its frame. */
export function coreWith(keys: Opened): Core {
  const found = core();
  if (current !== keys) {
    current = undefined;
    copyIds(keys, 0, lengthOf(keys), found.opened, 0);
    current = keys;
  }
  return found;
}

/** Makes a call of the module, and returns its status. */
export function call(make: (...given: number[]) => number, a = 0, b = 0, c = 0, d = 0, e = 0): number {
  isInside = true;
  const status = make(a, b, c, d, e);
  isInside = false;
  return status;
}

/** Opens the key in the frame: see `PublicFrame::open`. Returns the status. */
export function open(key: number, kind: number, bits: number, slot: number, at: number): number {
  current = undefined;
  return call(core().exports.open, key, kind, bits, slot, at);
}

/** A copy of what so many keys in the frame became. */
export function takeOpened(count: number): Opened {
  const { opened } = core();
  const length = 1 + (count * Place.OPENED_BYTES) / 8;
  const taken = new Ids(length);
  copyIds(opened, 0, length, taken, 0);
  return taken;
}
