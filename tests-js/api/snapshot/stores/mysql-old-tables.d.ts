/** The table that new node ids come from. */
export interface NodeIdsFrom {
    /** The table of UidGenerator, such as `"WORKER_NODE"` or `"uid.WORKER_NODE"`. */
    readonly workerNode?: string;
    /** The namespace of CosId in its table `cosid_machine`. `table`: if it is called otherwise, or in another database. */
    readonly cosId?: {
        readonly namespace: string;
        readonly table?: string;
    };
}
/** The statements for one old table. `:marker` is what our rows have in it, and `:namespace` that of CosId. */
export interface OldTable {
    /** How the record of the scope names it, as JSON. */
    readonly text: string;
    /** The table, for errors. */
    readonly name: string;
    readonly values: Readonly<Record<string, string>>;
    /** The largest node id that its rows can have. */
    readonly maxNode: number;
    /** A condition: whether the number `{node}` is ours. */
    readonly isOurs: string;
    /** An expression: the largest number in use, or null. */
    readonly largest: string;
    /** Our numbers from `:next` to `:last`, in their order. */
    readonly readOurs: string;
    /** Inserts a row of ours with the next number. For CosId, `:number` is that number. */
    readonly insert: string;
    /** Reads no row, and fails without one of the columns. */
    readonly check: string;
    /** What is wrong if that fails. */
    readonly mismatch: string;
    /** Whether it has a row of ours. */
    readonly hasOurs: string;
    /** Reads the engine, the largest number, and whether it has a row of ours. */
    readonly state: string;
    /** What the role of a program needs. */
    readonly permission: string;
}
/** So many of our numbers are taken over at a time. */
export declare const TAKEN_OVER = 64;
/** A stamp that no clock reaches: the last millisecond of the year 9999. */
export declare const NEVER_MS = 253402300799999;
/** Puts the old table of a scope into a statement; without one, every number is ours. */
export declare const withOldTable: (statement: string, oldTable: OldTable | undefined) => string;
/** Checks an old table before the first number is taken from it. Returns the number from which on its rows can be ours. */
export declare function checkOldTable({ name, maxNode, values }: OldTable, { engine, largest, hasOurs }: {
    readonly engine: string;
    readonly largest: number;
    readonly hasOurs: boolean;
}, nodeTo: number): number;
/** What a scope draws its node ids from. `scope` is in its rows there. */
export declare function oldTableOf(scope: string, given: NodeIdsFrom): OldTable;
/** What the record of a scope names. */
export declare function recordedTable(scope: string, text: string): OldTable;
