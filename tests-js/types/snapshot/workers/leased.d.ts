import { type LayoutInput } from "frazil";
import type { LeaseOptions } from "../lease/index.js";
import { LeasedSnowflake } from "../lease/leased-snowflake.js";
import type { LeasesNamespace, OfLeases } from "../stores/durable-object/index.js";
import type { LeaseStore } from "../stores/lease-store.js";
import { type RequestContext } from "./request-context.js";
export interface WorkersLeaseOptions<L extends LayoutInput = LayoutInput> extends Omit<LeaseOptions<L>, "layout" | "windowMs" | "owner" | "renew" | "signal" | "maxWaitMs"> {
    readonly layout?: L;
    readonly windowMs?: number;
    readonly owner?: string;
}
export declare function leased<const L extends LayoutInput = "edge", S extends LeasesNamespace | LeaseStore = LeasesNamespace | LeaseStore>(source: S & OfLeases<S>, ctx?: RequestContext, options?: WorkersLeaseOptions<L>): LeasedSnowflake<L> | Promise<LeasedSnowflake<L>>;
export declare function leased<const L extends LayoutInput = "edge", S extends LeasesNamespace | LeaseStore = LeasesNamespace | LeaseStore>(source: S & OfLeases<S>, options: WorkersLeaseOptions<L>): LeasedSnowflake<L> | Promise<LeasedSnowflake<L>>;
