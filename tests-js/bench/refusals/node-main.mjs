// A process of `refusals.mjs`: the nanoseconds of a call in each round, as JSON.
import * as frazil from "frazil";
import { run, subjectsOf } from "./subjects.mjs";

const [ROUNDS, WARM_UP] = [500, 500];
/** So short that other work on the machine slows a whole round down or none. */
const SLICE = 40;
const subjects = subjectsOf(frazil);
const times = { full: {}, short: {} };
for (const [stack, ofStack] of Object.entries(times)) {
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const [name, call] of Object.entries(subjects)) {
      const beganMs = performance.now();
      run(call, SLICE, stack);
      const ns = ((performance.now() - beganMs) * 1e6) / SLICE;
      ofStack[name] ??= [];
      if (round >= 0) ofStack[name].push(ns);
    }
  }
}
process.stdout.write(JSON.stringify(times));
