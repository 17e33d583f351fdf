/** What the store passes to `fetch`. */
export interface EtcdRequestInit {
    readonly method: "POST";
    readonly headers: Record<string, string>;
    readonly body: string;
    readonly redirect: "manual";
    readonly signal: AbortSignal;
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
/** The header of etcd's answers. 64-bit numbers come as text. */
export interface EtcdHeader {
    readonly cluster_id?: string;
    readonly revision?: string;
    readonly raft_term?: string;
}
/** The JSON of an answer. */
export interface AnswerBody {
    readonly header: EtcdHeader;
    readonly [field: string]: unknown;
}
/** An answer, and the time of the member that gave it. */
export interface EtcdReply {
    readonly body: AnswerBody;
    /** The time, which is later than these: those of writes that the answer shows. */
    now(...pastMs: number[]): number;
}
export declare class EtcdGateway {
    #private;
    readonly prefix: string;
    constructor(given: EtcdStoreOptions);
    /** Calls a path of the gateway. `isRead`: the next endpoint is asked if one does not answer. */
    call(path: string, body: object, isRead: boolean, signal: AbortSignal | undefined): Promise<EtcdReply>;
}
