/**
 * What the operations of a store are given, checked before the store is asked: a value that a statement would silently
 * round, cut off or store is refused here, with its name and the rule.
 */
import { leasedNodes } from "../../../layout/default-nodes.js";
import type { AcquireRequest, EnsureRequest, InitOptions, ReleaseRequest, RenewRequest } from "../../lease-store.js";
/** The node ids of a scope, and what else its record begins with. */
export interface ScopeRecord {
    readonly scope: string;
    /** As `layoutText` writes it. */
    readonly layout: string;
    readonly nodeFrom: number;
    readonly nodeTo: number;
    readonly windowMaxMs: number;
}
/** 128 random bits as text, checked. */
export declare function hex(field: string, value: unknown): string;
/** The name of a scope, checked. */
export declare function scopeOf(value: unknown): string;
/** @throws {ConfigError} `INVALID_ARGUMENT` */
export declare function checkRequest(request: unknown): void;
/** What `init` sends to an object. */
export declare function checkRecord(record: ScopeRecord): void;
export declare function checkAcquire(request: AcquireRequest): void;
export declare function checkRenew(request: RenewRequest): void;
export declare function checkRelease(request: ReleaseRequest): void;
export declare function checkEnsure(request: EnsureRequest): void;
/** The record that `init` writes for its options. `nodesByDefault`: the node ids of so many that it has unless it is told otherwise. */
export declare function recordOf(options: InitOptions, nodesByDefault?: typeof leasedNodes): ScopeRecord;
/** The scope in the options of `fence`. */
export declare function fencedScope(options?: {
    readonly scope?: string;
}): string;
