export interface PreferredNodeOptions {
    readonly nodes?: {
        readonly from?: number;
        readonly to?: number;
    };
    readonly hostname?: string;
    readonly env?: {
        readonly [name: string]: string | undefined;
    };
}
export declare function preferredNode(options?: PreferredNodeOptions): number | undefined;
