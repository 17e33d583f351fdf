/**
 * The contract of a lease store, as tests: every store of this package passes it, and yours can use it too.
 *
 * ```js
 * import { leaseContract } from "frazil/testing/lease-contract";
 *
 * leaseContract({ name: "my store", open: async () => ({ store, init: (scope) => store.init(scope) }) });
 * ```
 *
 * Run it with `node --test`. It runs against the real store: a double would answer as its author believes the store does. Each scenario has
 * its own scope. Most run at the same time, because some wait seconds for a fence.
 *
 * It cannot show that the store keeps acknowledged writes when its host loses power.
 */
import { declareScenarios } from "../contract/declaration.js";
import { Bench, type OpenStore, type Scenario } from "../contract/holder.js";
import { clocks } from "./clocks.js";
import { fences } from "./fences.js";
import { grants } from "./grants.js";
import { refusals } from "./refusals.js";
import { releases } from "./releases.js";
import { renewals } from "./renewals.js";

export type { LeaseStore } from "../../stores/lease-store.js";
export { Bench, type OpenStore, type Scenario, type ScenarioScope } from "../contract/holder.js";

/** The store under test. */
export interface LeaseContract {
  /** The name of the tests. */
  readonly name: string;
  /** Opens the store, once for all scenarios. */
  open(): Promise<OpenStore>;
}

/** All scenarios. */
export const scenarios: readonly Scenario[] = [...grants, ...renewals, ...releases, ...fences, ...refusals, ...clocks];

/** Declares a test for each scenario. If the store lacks a required call, the test is skipped with the name of that call. */
export function leaseContract({ name, open }: LeaseContract): void {
  // Moving the clock affects all scenarios.
  let last: Promise<unknown> = Promise.resolve();
  declareScenarios({
    name,
    scenarios,
    open,
    whySkipped({ needs = [], skewsClient, missesRecord }, opened) {
      const missing = needs.find((call) => opened[call] === undefined);
      if (missing) return `does not apply: the store was opened without ${missing}`;
      if (missesRecord && opened.beginsScopes) return "does not apply: the store begins scopes that it does not know";
      return skewsClient && opened.hasClockOfProcess
        ? "does not apply: the store reads the clock of this process"
        : undefined;
    },
    run({ run }, opened) {
      const work = () => run(new Bench(opened));
      if (!opened.pass) return work();
      const turn = last.then(work, work);
      last = turn;
      return turn;
    },
  });
}
