import type { HostAbortSignal } from "../../base/host-types.js";
export interface EtcdRequestInit {
    readonly method: "POST";
    readonly headers: Record<string, string>;
    readonly body: string;
    readonly redirect: "manual";
    readonly signal: HostAbortSignal;
}
export interface EtcdResponse {
    readonly status: number;
    readonly headers: {
        get(name: string): string | null;
    };
    text(): PromiseLike<string>;
}
export interface EtcdStoreOptions {
    readonly endpoints: readonly string[];
    readonly prefix?: string;
    readonly username?: string;
    readonly password?: string;
    readonly token?: () => string | PromiseLike<string>;
    readonly headers?: Readonly<Record<string, string>>;
    readonly fetch?: (url: string, init: EtcdRequestInit) => PromiseLike<EtcdResponse>;
    readonly timeoutMs?: number;
}
