export declare const START_MS = 1735689600000;
export interface ManualClock {
    nowMs: number;
    readonly now: () => number;
    readonly advance: (ms: number) => number;
}
export declare function manualClock(startMs?: number | Date): ManualClock;
