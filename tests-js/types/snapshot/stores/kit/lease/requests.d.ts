import { leasedNodes } from "../../../layout/default-nodes.js";
import type { AcquireRequest, EnsureRequest, InitOptions, ReleaseRequest, RenewRequest } from "../../lease-store.js";
export interface ScopeRecord {
    readonly scope: string;
    readonly layout: string;
    readonly nodeFrom: number;
    readonly nodeTo: number;
    readonly windowMaxMs: number;
}
export declare function hex(field: string, value: unknown): string;
export declare function scopeOf(value: unknown): string;
export declare function checkRequest(request: unknown): void;
export declare function checkRecord(record: ScopeRecord): void;
export declare function checkAcquire(request: AcquireRequest): void;
export declare function checkRenew(request: RenewRequest): void;
export declare function checkRelease(request: ReleaseRequest): void;
export declare function checkEnsure(request: EnsureRequest): void;
export declare function recordOf(options: InitOptions, nodesByDefault?: typeof leasedNodes): ScopeRecord;
export declare function fencedScope(options?: {
    readonly scope?: string;
}): string;
