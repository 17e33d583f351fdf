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
import { ConfigError } from "../errors.js";
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
    /** An expression: the engine. */
    readonly engine: string;
    /** Reads the engine, the largest number, and the next one where the table counts. */
    readonly state: string;
    /** Some names that have rows, for the error about one that has none. */
    readonly names: string;
    /** The error for a table without a row of the fleet. `found`: those names. `next`: the next number, where the table counts. */
    readonly isEmpty: (found: readonly string[], next: number) => ConfigError;
    /** What the role of a program needs. */
    readonly permission: string;
}
/** So many of our numbers are taken over at a time. */
export declare const TAKEN_OVER = 64;
/** A stamp that no clock reaches: the last millisecond of the year 9999. */
export declare const NEVER_MS = 253402300799999;
/** Puts the old table of a scope into a statement; without one, every number is ours. */
export declare const withOldTable: (statement: string, oldTable: OldTable | undefined) => string;
/** Refuses a layout whose node ids have no room in the old table. */
export declare function checkWidth({ maxNode }: OldTable, nodeTo: number): void;
/** Checks an old table before the first number is taken from it. Returns the number from which on its rows can be ours. */
export declare function checkOldTable(oldTable: OldTable, { engine, largest }: {
    readonly engine: string;
    readonly largest: number;
}, nodeTo: number): number;
/** What a scope draws its node ids from. */
export declare function oldTableOf(scope: string, given: NodeIdsFrom): {
    oldTable: OldTable;
    allowEmpty: boolean;
};
/** What the record of a scope names. */
export declare function recordedTable(scope: string, text: string): OldTable;
