export declare const nodeGiven: (node: unknown) => unknown;
export interface NodeRange {
    readonly from: number;
    readonly to: number;
}
export declare const localNode: (count: number) => number;
export declare const leasedNodes: (count: number) => NodeRange;
export declare const allNodes: (count: number) => NodeRange;
