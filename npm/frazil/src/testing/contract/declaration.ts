/** Turns the scenarios of a contract into tests: all on one open store, most at the same time. */
import { after, before, describe, test } from "node:test";

/** The common part of scenarios. */
interface Declared {
  readonly name: string;
  /** Whether it runs alone, because it changes something that all scenarios share, or keeps the store busy. */
  readonly alone?: boolean;
}

/** A contract and the store under test. */
interface Declaration<Open, Scenario> {
  readonly name: string;
  readonly scenarios: readonly Scenario[];
  /** Opens the store, once for all scenarios. */
  open(): Promise<Open>;
  /** Why a scenario cannot run on the store; `undefined` if it can. */
  whySkipped(scenario: Scenario, opened: Open): string | undefined;
  run(scenario: Scenario, opened: Open): Promise<void>;
}

/** Declares a test for each scenario. @internal */
export function declareScenarios<Open extends { close?(): Promise<void> }, Scenario extends Declared>({
  name,
  scenarios,
  open,
  whySkipped,
  run,
}: Declaration<Open, Scenario>): void {
  describe(name, () => {
    let opened: Open | undefined;
    before(async () => {
      opened = await open();
    });
    after(() => opened?.close?.());
    const declare = (scenario: Scenario) =>
      test(scenario.name, async (context) => {
        const reason = whySkipped(scenario, opened as Open);
        if (reason !== undefined) context.skip(reason);
        else await run(scenario, opened as Open);
      });
    describe("at the same time", { concurrency: true }, () => {
      scenarios.filter(({ alone }) => !alone).forEach(declare);
    });
    describe("one after the other", { concurrency: false }, () => {
      scenarios.filter(({ alone }) => alone).forEach(declare);
    });
  });
}
