/**
 * Which node id a process asks for first, by its place in a cluster or by the name of its machine. Only a preference: if the
 * node id is taken, another one is granted, and nothing depends on it.
 */
/** The options of `preferredNode()`. */
export interface PreferredNodeOptions {
    /** The node ids of the scope, as `init()` was given them. Default: those of the layout `"default"`, 0 to 1022. */
    readonly nodes?: {
        readonly from?: number;
        readonly to?: number;
    };
    /** The name of the machine or pod. Default: the host name. */
    readonly hostname?: string;
    /** The environment variables. Default: those of the process. */
    readonly env?: {
        readonly [name: string]: string | undefined;
    };
}
/**
 * The node id to prefer: `NOMAD_ALLOC_INDEX`, else the ordinal of a pod of a StatefulSet or of an indexed Job (`web-3`), else a
 * hash of the host name, each modulo how many node ids there are. `undefined` where there is none of these.
 *
 * ```js
 * const ids = await lease(store, { node: preferredNode() });
 * ```
 *
 * @throws {ConfigError} `INVALID_OPTION`.
 */
export declare function preferredNode(options?: PreferredNodeOptions): number | undefined;
