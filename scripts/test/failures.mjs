// What a failed run of a suite means: whether a second run may decide, and which tests have needed one too often.

/** The causes that a busy machine can have, as `scripts/dots.mjs` names them. */
const OF_A_BUSY_MACHINE = ["time-out", "server did not start"];

/** How many second runs a test may have needed. */
const MAX_FLAKES = 2;

/**
 * Whether a suite may run again, alone. `reports`: what the reporter wrote about each failed test. Without a report the suite failed in
 * another way: a crash, a signal, a compiler. So did one that runs more than Node's tests.
 */
export function mayRunAgain({ waits = false, nodeArguments }, reports) {
  // Cancelled by what failed around them.
  const failed = reports.filter(({ cause }) => cause !== "cancelled");
  const isBusy = failed.length > 0 && failed.every(({ cause }) => OF_A_BUSY_MACHINE.includes(cause));
  return waits && nodeArguments !== undefined && isBusy;
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
