import type { LeaseStore } from "../../stores/lease-store.js";
declare const LAYOUT = "1704067200000 1ms time41 node10 sequence12";
export interface ScenarioScope {
    readonly scope: string;
    readonly layout: typeof LAYOUT;
    readonly nodes: {
        readonly from: number;
        readonly to: number;
    };
    readonly windowMaxMs: number;
}
export interface OpenStore {
    readonly store: LeaseStore;
    init(scope: ScenarioScope): Promise<unknown>;
    readonly hasClockOfProcess?: boolean;
    readonly beginsScopes?: boolean;
    connect?(): Promise<LeaseStore>;
    pass?(ms: number): Promise<void>;
    close?(): Promise<void>;
    jumpClock?(ms: number): Promise<void>;
    changeIncarnation?(): Promise<void>;
    beforeNextWrite?(work: () => Promise<void>): void;
    stop?(): Promise<void>;
    start?(): Promise<void>;
}
export declare class Bench {
    readonly open: OpenStore;
    constructor(open: OpenStore);
}
export interface Scenario {
    readonly name: string;
    readonly needs?: readonly ("jumpClock" | "changeIncarnation" | "beforeNextWrite" | "stop")[];
    readonly skewsClient?: boolean;
    readonly missesRecord?: boolean;
    readonly alone?: boolean;
    run(bench: Bench): Promise<void>;
}
export {};
