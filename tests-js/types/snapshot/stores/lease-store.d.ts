import type { HostAbortSignal } from "../base/host-types.js";
import type { LayoutInput } from "../layout/index.js";
export interface Grant {
    readonly granted: true;
    readonly grant: string;
    readonly node: number;
    readonly fromMs: number;
    readonly untilMs: number;
    readonly storeNowMs: number;
}
export type RefusalReason = "taken" | "fenced" | "incarnation" | "behind" | "layout" | "window" | "missing" | "exhausted";
export interface Refusal {
    readonly granted: false;
    readonly reason: RefusalReason;
    readonly storeNowMs?: number;
    readonly place?: string;
    readonly freeAtMs?: number;
    readonly sharedWith?: string;
    readonly windowMaxMs?: number;
    readonly layout?: string;
}
export type Answer = Grant | Refusal;
export interface ScopeRequest {
    readonly scope: string;
    readonly signal?: HostAbortSignal;
}
export interface WindowRequest extends ScopeRequest {
    readonly grant: string;
    readonly nonce: string;
    readonly windowMs: number;
    readonly layout: string;
}
export interface AcquireRequest extends WindowRequest {
    readonly node?: number;
    readonly owner: string;
}
export interface RenewRequest extends WindowRequest {
    readonly node: number;
    readonly untilMs: number;
}
export interface ReleaseRequest extends ScopeRequest {
    readonly grant: string;
    readonly node: number;
    readonly untilMs: number;
    readonly heldUntilMs: number;
}
export interface EnsureRequest extends ScopeRequest {
    readonly behind: boolean;
}
export interface ScopeOptions {
    readonly scope?: string;
    readonly nodes?: {
        readonly from: number;
        readonly to: number;
    };
    readonly windowMaxMs?: number;
}
export interface InitOptions extends ScopeOptions {
    readonly layout: LayoutInput;
}
export interface LeaseStore {
    readonly name: string;
    readonly identity?: object;
    waitsFor?(): string | undefined;
    acquire(request: AcquireRequest): Promise<Answer>;
    renew(request: RenewRequest): Promise<Answer>;
    release(request: ReleaseRequest): Promise<boolean>;
    ensure(request: EnsureRequest): Promise<void>;
}
export interface ManagedStore extends LeaseStore {
    migrate?(): Promise<void>;
    init(options: InitOptions): Promise<boolean>;
    fence(options?: {
        readonly scope?: string;
    }): Promise<number>;
}
export declare const FENCE_MARGIN_MS = 5000;
