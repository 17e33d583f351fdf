/** The parts of a node id by name. */
export type NodeParts<P extends string = string> = {
    readonly [K in P]: number;
};
/**
 * A decoded ID. Its fields are own properties, so a copy such as `{ ...decoded, sequence: 8 }` has them. `date` and
 * `parts` are getters, so a copy has neither.
 */
export declare class Decoded<P extends string = string> {
    /** The ID. */
    readonly id: bigint;
    /** The start of its tick, in Unix milliseconds. */
    readonly timestampMs: number;
    /** The node id, with its parts joined; `undefined` if the layout has no node field. */
    readonly node: number | undefined;
    /** The clock id; `undefined` if the layout has no clock field. */
    readonly clock: number | undefined;
    /** The number of the ID within its tick. */
    readonly sequence: number;
    /** `timestampMs` as a `Date`. */
    get date(): Date;
    /** The parts of the node id by name, in a frozen object; `undefined` if the layout has no node field. */
    get parts(): NodeParts<P> | undefined;
    /** All fields, with the ID as text, since JSON has no bigint. */
    toJSON(): object;
}
