export type NodeParts<P extends string = string> = {
    readonly [K in P]: number;
};
export declare class Decoded<P extends string = string> {
    readonly id: bigint;
    readonly timestampMs: number;
    readonly node: number | undefined;
    readonly clock: number | undefined;
    readonly sequence: number;
    get date(): Date;
    get parts(): NodeParts<P> | undefined;
    toJSON(): object;
}
