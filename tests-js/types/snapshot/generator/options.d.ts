import type { HostAbortSignal } from "../base/host-types.js";
import type { LayoutInput, PartsOf } from "../layout/index.js";
export type NodeOption<L> = [PartsOf<L>] extends [never] ? "none" : number | string | undefined | {
    readonly [part in PartsOf<L>]: number | string | undefined;
};
export interface SnowflakeOptions<L extends LayoutInput = LayoutInput> {
    readonly node: NodeOption<L>;
    readonly layout?: L;
    readonly epochMs?: number | Date;
    readonly maxLeadMs?: number;
    readonly maxWaitMs?: number;
    readonly maxAsyncWaitMs?: number;
    readonly sequenceStart?: SequenceStart;
    readonly freshness?: Freshness;
    readonly unshared?: boolean;
    readonly now?: () => number;
}
export interface LocalOptions<L extends LayoutInput = LayoutInput> extends Omit<SnowflakeOptions<L>, "node" | "unshared" | "now"> {
    readonly node?: NodeOption<L>;
    readonly dir?: string;
    readonly scope?: string;
    readonly maxLeadMs?: number;
    readonly startWaitMs?: number;
    readonly fileSystem?: string;
    readonly acceptUnprovenPlatform?: boolean;
}
export interface LocalAsyncOptions<L extends LayoutInput = LayoutInput> extends LocalOptions<L>, AsyncOptions {
}
export type Freshness = "call" | "turn";
export type SequenceStart = "zero" | "random" | "wrap";
export interface AsyncOptions {
    readonly signal?: HostAbortSignal;
}
