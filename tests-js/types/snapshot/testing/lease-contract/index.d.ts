import { type OpenStore, type Scenario } from "../contract/holder.js";
export type { LeaseStore } from "../../stores/lease-store.js";
export { Bench, type OpenStore, type Scenario, type ScenarioScope } from "../contract/holder.js";
export interface LeaseContract {
    readonly name: string;
    open(): Promise<OpenStore>;
}
export declare const scenarios: readonly Scenario[];
export declare function leaseContract({ name, open }: LeaseContract): void;
