/**
 * An ID taken apart. Its fields are its own, so a copy (`{ ...decoded, sequence: 8 }`) has them; `date` and `parts` are made
 * when they are asked for, and a copy has neither.
 */
export declare class Decoded<P extends string = string> {
    /** The ID. */
    readonly id: bigint;
    /** Unix milliseconds of the start of its tick. */
    readonly timestampMs: number;
    /** The node id, its parts joined; `undefined` where the layout has none. */
    readonly node: number | undefined;
    /** The clock id; `undefined` where the layout has none. */
    readonly clock: number | undefined;
    /** The number of the ID within its tick. */
    readonly sequence: number;
    /** `timestampMs` as a `Date`. */
    get date(): Date;
    /** The node id by the names of its parts; `undefined` where the layout has none. */
    get parts(): {
        readonly [K in P]: number;
    } | undefined;
    /** All of it with the ID as text, since JSON has no bigint. */
    toJSON(): object;
}
