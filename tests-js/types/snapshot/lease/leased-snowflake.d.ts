import { type Health, type LayoutInput, Snowflake, type Stats } from "frazil";
import { type AsyncOptions } from "../generator/options.js";
import { type LeaseEvents } from "./events.js";
import type { LeaseHealth, LeaseStats } from "./health.js";
export type LeasedHealth = Health & {
    readonly lease: LeaseHealth;
};
export interface LeasedStats extends Stats {
    readonly lease: LeaseStats;
}
export declare class LeasedSnowflake<const L extends LayoutInput = "default"> extends Snowflake<L> {
    #private;
    readonly ready: (options?: AsyncOptions) => Promise<void>;
    readonly close: () => Promise<void>;
    readonly stats: () => LeasedStats;
    readonly health: () => LeasedHealth;
    readonly on: <E extends keyof LeaseEvents>(event: E, listener: LeaseEvents[E]) => this;
    readonly off: <E extends keyof LeaseEvents>(event: E, listener: LeaseEvents[E]) => this;
    [Symbol.asyncDispose](): Promise<void>;
}
