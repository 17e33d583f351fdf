import type { FrazilError } from "../base/errors.js";
import type { Backend } from "../core/boundary.js";
import type { StateFile } from "../core/state-files.js";
export interface Stats {
    readonly backend: Backend;
    readonly issued: number;
    readonly dropped: number;
    readonly reservations: number;
    readonly rechecks: number;
    readonly stalls: number;
    readonly waitedMs: number;
    readonly stepsBack: number;
    readonly largestStepBackMs: number;
    readonly switches: number;
    readonly worstLeadMs: number;
    readonly extensions: number;
}
export type Readiness = {
    readonly ok: true;
    readonly refusal: undefined;
} | {
    readonly ok: false;
    readonly refusal: FrazilError;
};
export type Health = Readiness & Condition;
export interface Condition {
    readonly leadMs: number;
    readonly endsAt: Date;
    readonly remainingMs: number;
    readonly warnings: readonly string[];
    readonly file?: StateFile;
}
