import { type FrazilError } from "../base/errors.js";
export interface LeaseWindow {
    readonly node: number;
    readonly fromMs: number;
    readonly untilMs: number;
}
export interface LeaseEvents {
    readonly acquired: (lease: LeaseWindow) => void;
    readonly renewed: (lease: LeaseWindow) => void;
    readonly lost: (error: FrazilError) => void;
    readonly refused: (error: FrazilError) => void;
}
