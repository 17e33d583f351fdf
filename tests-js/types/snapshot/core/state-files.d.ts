export interface StateFile {
    readonly path: string;
    readonly fileSystem: string;
    readonly ceilingMs: number;
    readonly attached: number | undefined;
    readonly raises: number;
    readonly distrustedMs: number;
    readonly locked: boolean;
    readonly blind: boolean;
}
