/**
 * Node ids from the table of another generator, for a fleet that is replaced one process at a time: `docs/moving-in.md`.
 *
 * Rows, grants and fences are in the tables of Frazil. Only the numbers come from the old table: a new node id is a row that is
 * inserted there as the old generator inserts one, so that none of its processes gets the number as well.
 *
 * - **A number with a row of the old generator is never granted**, however old the row is: its process may go on minting.
 * - **A number with a row of ours is never theirs**: UidGenerator reuses none, and CosId takes no row whose stamp is in the future.
 * - **A row that is not ours any more ends the lease** of its number at the next renewal, and it is never granted again.
 * - **Rows of two records are never taken for each other**: each record has drawn a marker, which is in its rows.
 *
 * Nothing here is changed or deleted in the old table.
 */
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
