/** Filling a caller's array: the native addon does it without a copy. */
import type { ArrayCalls } from "../core/boundary.js";
import { Slot } from "../generated/abi.js";
import type { FillCall } from "./mint-call.js";

/** The part of a port that is used here. */
interface FrameAccess {
  readonly binding: { readonly frame: number };
  readonly numbers: Float64Array;
}

/** Reserves up to `want` IDs for a call, and appends them to those in its array. Returns the status, as `reserve`. */
export function fillArray(
  { binding: { frame }, numbers }: FrameAccess,
  calls: ArrayCalls,
  handle: number,
  nowMs: number,
  confirmed: boolean,
  { target, done }: FillCall,
  want: number,
): number {
  numbers[Slot.FILL_FROM] = done;
  numbers[Slot.FILL_UNTIL] = done + want;
  return calls.fill(frame, handle, nowMs, confirmed, target);
}
