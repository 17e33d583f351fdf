import { type OpenStore, type Scenario } from "../contract/holder.js";
export type { LeaseStore } from "../../stores/lease-store.js";
export { Bench, type OpenStore, type Scenario, type ScenarioScope } from "../contract/holder.js";
/** What the contract is held against. */
export interface LeaseContract {
    /** How the tests are called. */
    readonly name: string;
    /** Opens the store, once for all scenarios. */
    open(): Promise<OpenStore>;
}
/** All scenarios. */
export declare const scenarios: readonly Scenario[];
/** Declares a test for each scenario. Those that need what the store cannot do are skipped, with the name of the call. */
export declare function leaseContract({ name, open }: LeaseContract): void;
