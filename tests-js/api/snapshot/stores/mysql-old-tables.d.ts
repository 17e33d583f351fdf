/** The table that new node ids come from. */
export interface NodeIdsFrom {
    /** The table of UidGenerator, such as `"WORKER_NODE"` or `"uid.WORKER_NODE"`. */
    readonly workerNode?: string;
    /** The namespace of CosId in its table `cosid_machine`. `table`: if it is called otherwise, or in another database. */
    readonly cosId?: {
        readonly namespace: string;
        readonly table?: string;
    };
    /**
     * `init` refuses a table without a row of the fleet: it is that of another database, a copy, or the namespace is another one.
     * `true`: no process of the fleet has ever started.
     */
    readonly allowEmpty?: boolean;
}
