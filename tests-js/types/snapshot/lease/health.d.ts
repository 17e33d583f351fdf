import type { FrazilError } from "../base/errors.js";
export interface LeaseStats {
    readonly attempts: number;
    readonly acquired: number;
    readonly renewed: number;
    readonly lost: number;
    readonly refused: number;
}
export interface LeaseHealth {
    readonly scope: string;
    readonly store: string;
    readonly node?: number;
    readonly fromMs?: number;
    readonly untilMs?: number;
    readonly failures: number;
    readonly problem?: FrazilError;
    readonly nextMs: number;
    readonly skewMs: number;
}
