/**
 * The contract of a store of segments, as tests: every store of this package passes it, and yours can use it too.
 *
 * ```js
 * import { segmentContract } from "frazil/testing/segment-contract";
 *
 * const init = (tag, first) => store.initSegment({ tag, first });
 * segmentContract({ name: "my store", open: async () => ({ store, init }) });
 * ```
 *
 * Run it with `node --test`. It runs against the real store: a double would answer as its author believes the store does.
 * Each scenario has its own tags, and most run at the same time.
 *
 * It cannot show that the store keeps acknowledged writes when its host loses power.
 */
import { Bench, type OpenStore, type Scenario } from "../contract/counter.js";
import { declareScenarios } from "../contract/declaration.js";
import { failovers } from "./failovers.js";
import { ranges } from "./ranges.js";
import { retries } from "./retries.js";
import { tags } from "./tags.js";

export type { SegmentStore } from "../../stores/segment-store.js";
export { Bench, type Inability, type OpenStore, type Scenario } from "../contract/counter.js";

/** The store under test. */
export interface SegmentContract {
  /** The name of the tests. */
  readonly name: string;
  /** Opens the store, once for all scenarios. */
  open(): Promise<OpenStore>;
}

/** All scenarios. */
export const scenarios: readonly Scenario[] = [...ranges, ...retries, ...tags, ...failovers];

/** Why a scenario cannot run on a store; `undefined` if it can. */
export function whySkipped({ needs = [] }: Scenario, opened: OpenStore): string | undefined {
  const { lacks = [] } = opened;
  const missing = needs.find((need) =>
    need === "changeIncarnation" || need === "saveRecord" ? !opened[need] : lacks.includes(need),
  );
  return missing && `does not apply: the store was opened without ${missing}`;
}

/** Declares a test for each scenario. If the store lacks a required ability, the test is skipped with the name of that ability. */
export function segmentContract({ name, open }: SegmentContract): void {
  declareScenarios({ name, scenarios, open, whySkipped, run: ({ run }, opened) => run(new Bench(opened)) });
}
