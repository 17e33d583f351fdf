export interface NodeIdsFrom {
    readonly workerNode?: string;
    readonly cosId?: {
        readonly namespace: string;
        readonly table?: string;
    };
    readonly allowEmpty?: boolean;
}
