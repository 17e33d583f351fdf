import type { LeaseStore } from "../../stores/lease-store.js";
/** The built-in layout `"default"`, as `layoutText` writes it. */
declare const LAYOUT = "1704067200000 1ms time41 node10 sequence12";
/** The record of a scope that a scenario starts with. */
export interface ScenarioScope {
    readonly scope: string;
    /** The text of the built-in layout `"default"`. */
    readonly layout: typeof LAYOUT;
    readonly nodes: {
        readonly from: number;
        readonly to: number;
    };
    readonly windowMaxMs: number;
}
/** A store that is open, and what can be done to it. The last calls are optional: without one, its scenarios are skipped. */
export interface OpenStore {
    readonly store: LeaseStore;
    /** Writes the record of a scope. The layout is the built-in `"default"`. */
    init(scope: ScenarioScope): Promise<unknown>;
    /** Whether the store reads the clock of this process: then a wrong one cannot be told from a wrong clock of the store. */
    readonly hasClockOfProcess?: boolean;
    /** Whether the first `acquire` begins a scope that the store does not know, as an object does that serves one scope. */
    readonly beginsScopes?: boolean;
    /** Another client of the same store, as another process has it. Default: `store`. */
    connect?(): Promise<LeaseStore>;
    /** Lets the store's clock go on, if tests move it: the scenarios then run one after the other. Default: waits. */
    pass?(ms: number): Promise<void>;
    close?(): Promise<void>;
    /** Steps the store's clock by so much, and leaves it there. */
    jumpClock?(ms: number): Promise<void>;
    /** Gives the store another incarnation, with all of its rows, as a failover does that has lost nothing. */
    changeIncarnation?(): Promise<void>;
    /**
     * Runs `work` once, between what the next operation reads and what it writes. For stores that read and write by two calls: what
     * has changed in between, also the server, must not be overlooked.
     */
    beforeNextWrite?(work: () => Promise<void>): void;
    /** Stops the store: its operations fail, or wait. */
    stop?(): Promise<void>;
    /** Starts it again, with everything that it acknowledged. */
    start?(): Promise<void>;
}
/** What a scenario is given. */
export declare class Bench {
    readonly open: OpenStore;
    constructor(open: OpenStore);
}
/** One scenario of the contract. */
export interface Scenario {
    readonly name: string;
    /** What the store must be able to do. Without it the scenario is skipped. */
    readonly needs?: readonly ("jumpClock" | "changeIncarnation" | "beforeNextWrite" | "stop")[];
    /** Whether it sets the clock of this process wrong, which must not be that of the store. */
    readonly skewsClient?: boolean;
    /** Whether it asks for a scope that has no record, which must be refused. */
    readonly missesRecord?: boolean;
    /** Whether it runs alone: it changes something that all scopes share, such as a clock, or keeps the store busy. */
    readonly alone?: boolean;
    run(bench: Bench): Promise<void>;
}
export {};
