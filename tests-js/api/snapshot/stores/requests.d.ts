import { type LayoutInput } from "../layout.js";
import type { AcquireRequest, EnsureRequest, ReleaseRequest, RenewRequest, ScopeOptions } from "./store.js";
/** The node ids of a scope, and what else its record begins with. */
export interface ScopeRecord {
    readonly scope: string;
    /** As `layoutText` writes it. */
    readonly layout: string;
    readonly nodeFrom: number;
    readonly nodeTo: number;
    readonly windowMaxMs: number;
}
/** What `init` is given. */
export interface InitOptions extends ScopeOptions {
    /** The layout of all IDs of the scope: a `Layout`, a definition, or the name of a built-in one. */
    readonly layout: LayoutInput;
}
/** The name of a scope, checked. */
export declare function scopeOf(value: unknown): string;
export declare function checkAcquire(request: AcquireRequest): void;
export declare function checkRenew(request: RenewRequest): void;
export declare function checkRelease(request: ReleaseRequest): void;
export declare function checkEnsure(request: EnsureRequest): void;
/** The record that `init` writes for its options. */
export declare function recordOf(options: InitOptions): ScopeRecord;
/** The scope in the options of `fence`. */
export declare function fencedScope(options?: {
    readonly scope?: string;
}): string;
