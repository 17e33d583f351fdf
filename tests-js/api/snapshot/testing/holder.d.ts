import type { Answer, Grant, LeaseStore, Refusal } from "../stores/store.js";
/** 128 random bits, as the driver draws them. */
export declare const draw: () => string;
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
    init(scope: ScenarioScope): Promise<void>;
    /** Whether the store reads the clock of this process: then a wrong one cannot be told from a wrong clock of the store. */
    readonly hasClockOfProcess?: boolean;
    /** Another client of the same store, as another process has it. Default: `store`. */
    connect?(): Promise<LeaseStore>;
    /** Lets the store's clock go on, if tests move it: the scenarios then run one after the other. Default: waits. */
    pass?(ms: number): Promise<void>;
    close?(): Promise<void>;
    /** Steps the store's clock by so much, and leaves it there. */
    jumpClock?(ms: number): Promise<void>;
    /** Gives the store another incarnation, with all of its rows, as a failover does that has lost nothing. */
    changeIncarnation?(): Promise<void>;
    /** Stops the store: its operations fail, or wait. */
    stop?(): Promise<void>;
    /** Starts it again, with everything that it acknowledged. */
    start?(): Promise<void>;
}
/** A scope of a scenario's own in the store that is tested. */
export declare class Scope {
    readonly open: OpenStore;
    readonly record: ScenarioScope;
    constructor(open: OpenStore, record: ScenarioScope);
    /** A process that asks for a lease of this scope. All of them have the same owner, which must not matter. */
    holder(windowMs: number, store?: LeaseStore): Holder;
    /** Lets the store's clock go on. */
    pass(ms: number): Promise<void>;
}
/** What a scenario is given. */
export declare class Bench {
    readonly open: OpenStore;
    constructor(open: OpenStore);
    /** A new scope with the node ids 0 to 3, or others. */
    scope(options?: {
        nodes?: {
            from: number;
            to: number;
        };
        windowMaxMs?: number;
    }): Promise<Scope>;
}
/** A process with a lease, as the driver keeps it: its grant, and the end of the window that it knows. */
export declare class Holder {
    #private;
    readonly scope: Scope;
    store: LeaseStore;
    windowMs: number;
    grant: string;
    node: number;
    untilMs: number;
    constructor(scope: Scope, store: LeaseStore, windowMs: number);
    /** A copy of this process, as a snapshot of its machine makes one. */
    clone(): Holder;
    /** Asks for a lease. Keeps it if it is granted. */
    acquire(given?: {
        node?: number;
        layout?: string;
        signal?: AbortSignal;
        nonce?: string;
    }): Promise<Answer>;
    /** Asks for more time. Keeps it if it is granted. */
    renew(given?: {
        nonce?: string;
        untilMs?: number;
        node?: number;
        layout?: string;
    }): Promise<Answer>;
    /** Gives the lease back: the node id is free from `untilMs` on. */
    release(untilMs: number): Promise<boolean>;
    ensure(behind: boolean): Promise<void>;
}
/** The lease in an answer that must be one. Every number of it must be there. */
export declare function granted(answer: Answer): Grant;
/** The refusal in an answer that must be one, with this reason. */
export declare function refused(answer: Answer, ...reasons: Refusal["reason"][]): Refusal;
/** A holder with a new lease. */
export declare function leased(scope: Scope, windowMs: number, options?: {
    node?: number;
}): Promise<[Holder, Grant]>;
/** One scenario of the contract. */
export interface Scenario {
    readonly name: string;
    /** What the store must be able to do. Without it the scenario is skipped. */
    readonly needs?: readonly ("jumpClock" | "changeIncarnation" | "stop")[];
    /** Whether it sets the clock of this process wrong, which must not be that of the store. */
    readonly skewsClient?: boolean;
    /** Whether it changes something that all scopes share, such as a clock, and runs alone. */
    readonly alone?: boolean;
    run(bench: Bench): Promise<void>;
}
export {};
