// The random numbers that calls of a segment draw, through the frame.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as frazil from "frazil";
import { segment, slot } from "../vectors/generated-tables.mjs";

const { SegmentCall, SegmentRequest } = segment;
const isNative = (process.env.FRAZIL_BACKEND ?? "native") === "native";

for (const call of ["ASK", "ASK_AGAIN"]) {
  test(`an attempt that ${call} begins has a name of its own`, {
    skip: !isNative && "does not apply: JavaScript draws for WebAssembly",
  }, () => {
    new frazil.Snowflake({ node: 0 });
    const port = globalThis[Symbol.for("frazil")].connect();
    const { binding, numbers } = port;
    const names = [1, 2].map(() => {
      Object.assign(numbers, {
        [slot.HAS_STEP]: 0,
        [slot.MAX_STEP]: 1000,
        [slot.GROW_BELOW_MS]: 0,
        [slot.SHRINK_ABOVE_MS]: 0,
      });
      assert.equal(binding.calls.segment(binding.frame, 0, SegmentCall.OPEN), 0);
      const handle = numbers[slot.HANDLE];
      // What the frame has from another call is no name.
      numbers.fill(7, slot.RANDOM, slot.RANDOM + 8);
      Object.assign(numbers, { [slot.MONOTONIC_MS]: 1, [slot.WANT]: 1, [slot.AHEAD]: 0 });
      assert.equal(binding.calls.segment(binding.frame, handle, SegmentCall[call]), 0);
      assert.equal(numbers[slot.REQUEST], SegmentRequest.ALLOCATE);
      binding.calls.release(binding.frame, handle);
      return [...numbers.subarray(slot.NONCE, slot.NONCE + 4)].join();
    });
    assert.notEqual(names[0], names[1]);
  });
}
