/**
 * Every suite:
 *
 * - `name`, and `run`, which throws if a test fails;
 * - `tier`: the command that runs it: `quick` (`npm test`), `all` (`npm run test:all`) or `long` (`npm run test:long`);
 * - `requires`: tools without which the suite is skipped;
 * - `optional`: tools without which the suite skips some of its tests;
 * - `whyUnavailable`: returns the reason why the suite cannot run on this machine, or `undefined`;
 * - `nodeArguments`: instead of `run`: returns the arguments of a Node that runs the suite. Two of these run at a time, with one of
 *   the others beside them, and then three of the others;
 * - `node`: the path of that Node, if it is not the one that runs this;
 * - `env`: environment variables of the suite;
 * - `waits`, with `nodeArguments`: whether a second run may decide if the first one ran into a time limit, or a server did not start
 *   (`failures.mjs`).
 *
 * `inputs.mjs` says which files each suite reads.
 */
import { ALL_SUITES } from "./all-suites.mjs";
import { LONG_SUITES } from "./long-suites.mjs";
import { QUICK_SUITES } from "./quick-suites.mjs";

export const SUITES = Object.entries({ quick: QUICK_SUITES, all: ALL_SUITES, long: LONG_SUITES }).flatMap(
  ([tier, suites]) => suites.map((suite) => ({ ...suite, tier })),
);

/** Whether a suite has a row in docs/proofs/passed.json. CI always runs the quick ones. */
export const hasRow = ({ tier }) => tier !== "quick";
