import type { AcquireRequest, Answer, EnsureRequest, InitOptions, ManagedStore, ReleaseRequest, RenewRequest } from "../../lease-store.js";
export declare class CompareAndSetStore implements ManagedStore {
    #private;
    readonly name: string;
    waitsFor(): string | undefined;
    acquire(request: AcquireRequest): Promise<Answer>;
    renew(request: RenewRequest): Promise<Answer>;
    release(request: ReleaseRequest): Promise<boolean>;
    ensure(request: EnsureRequest): Promise<void>;
    init(options: InitOptions): Promise<boolean>;
    fence(options?: {
        readonly scope?: string;
    }): Promise<number>;
}
