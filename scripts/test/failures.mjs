// What a failed run of a suite means: whether a second run may decide, and which tests have needed one too often.

/** The causes that a busy machine can have, as `reporter.mjs` names them. */
const OF_A_BUSY_MACHINE = ["time-out", "server did not start"];

/** How many second runs a test may have needed. */
const MAX_FLAKES = 2;

/**
 * Whether a suite that failed may run again, alone. `failures`: what the reporter wrote about each failed test. If there are none, or the
 * process `hasCrashed`, the suite failed in another way: a crash, a signal, a hang, a compiler. A suite without `nodeArguments` runs more
 * than Node's tests, so its reports do not tell all.
 */
export function mayRunAgain({ waits = false, nodeArguments }, { hasCrashed = false, failures }) {
  // Cancelled by what failed around them.
  const failed = failures.filter(({ cause }) => cause !== "cancelled");
  const isBusy = failed.length > 0 && failed.every(({ cause }) => OF_A_BUSY_MACHINE.includes(cause));
  return waits && nodeArguments !== undefined && !hasCrashed && isBusy;
}

/** The line of a suite that passed only when it ran again. The next person adds its JSON to docs/proofs/flakes.json. */
export const flakeLine = (flake) => `FLAKE ${JSON.stringify(flake)}`;

/** The tests with more lines in docs/proofs/flakes.json than a landing may have. */
export function tooOften(flakes) {
  const counts = new Map();
  for (const { suite, test } of flakes) {
    const name = `${suite}: ${test}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count > MAX_FLAKES).map(([name]) => name);
}
