import type { LayoutInput, SnowflakeOptions } from "frazil";
import type { HostAbortSignal } from "../base/host-types.js";
import type { LeaseStore } from "../stores/lease-store.js";
import { LeasedSnowflake } from "./leased-snowflake.js";
export { layoutText } from "../stores/kit/lease/layout-text.js";
export type { AcquireRequest, Answer, EnsureRequest, Grant, InitOptions, LeaseStore, ManagedStore, Refusal, RefusalReason, ReleaseRequest, RenewRequest, ScopeOptions, ScopeRequest, WindowRequest, } from "../stores/lease-store.js";
export { FENCE_MARGIN_MS } from "../stores/lease-store.js";
export type { LeaseEvents, LeaseWindow } from "./events.js";
export type { LeaseHealth, LeaseStats } from "./health.js";
export { type LeasedHealth, LeasedSnowflake, type LeasedStats } from "./leased-snowflake.js";
export { type PreferredNodeOptions, preferredNode } from "./preferred-node.js";
export interface LeaseOptions<L extends LayoutInput = LayoutInput> extends Omit<SnowflakeOptions<L>, "node" | "unshared" | "now" | "freshness"> {
    readonly scope?: string;
    readonly windowMs?: number;
    readonly node?: number | string | undefined;
    readonly owner?: string;
    readonly time?: "wall" | "store";
    readonly renew?: "timer" | "calls";
    readonly maxLeadMs?: number;
    readonly signal?: HostAbortSignal;
}
export declare function lease<const L extends LayoutInput = "default">(store: LeaseStore, options?: LeaseOptions<L>): Promise<LeasedSnowflake<L>>;
