import { type FrazilError } from "../base/errors.js";
export interface SegmentStats {
    readonly left: number;
    readonly buffers: number;
    readonly step?: number;
    readonly ranges: number;
    readonly allocated: number;
    readonly tries: number;
    readonly failures: number;
    readonly problem?: FrazilError;
    readonly fetchMs: number;
    readonly waits: number;
    readonly closed: boolean;
}
