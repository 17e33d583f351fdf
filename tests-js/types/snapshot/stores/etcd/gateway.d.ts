import type { HostAbortSignal } from "../../base/host-types.js";
/** What the store passes to `fetch`. */
export interface EtcdRequestInit {
    readonly method: "POST";
    readonly headers: Record<string, string>;
    readonly body: string;
    readonly redirect: "manual";
    readonly signal: HostAbortSignal;
}
/** What the store reads of a response. */
export interface EtcdResponse {
    readonly status: number;
    readonly headers: {
        get(name: string): string | null;
    };
    text(): PromiseLike<string>;
}
/** The options of an `EtcdStore`. */
export interface EtcdStoreOptions {
    /** The client URLs of the members, or one of a proxy in front of them: `["https://etcd-1:2379"]`. */
    readonly endpoints: readonly string[];
    /** What all keys begin with. Default: `"frazil/"`. */
    readonly prefix?: string;
    /** The user of etcd, and the password. The store asks for a token, and for another one when it has expired. */
    readonly username?: string;
    readonly password?: string;
    /** In the place of a user and a password: returns the token. It is called once more if etcd refuses the token. */
    readonly token?: () => string | PromiseLike<string>;
    /** Further headers of each request, such as those of a proxy. */
    readonly headers?: Readonly<Record<string, string>>;
    /** In the place of the global `fetch`: one that knows your certificates, for instance. */
    readonly fetch?: (url: string, init: EtcdRequestInit) => PromiseLike<EtcdResponse>;
    /** How long one endpoint may take for one request, in milliseconds. Default: 2000. */
    readonly timeoutMs?: number;
}
