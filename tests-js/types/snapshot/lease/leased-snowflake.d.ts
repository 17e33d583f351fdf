/** The generator whose node id is leased: what it adds to `Snowflake`, and the wait until an ID can be minted. */
import { type Health, type LayoutInput, Snowflake, type Stats } from "frazil";
import { type AsyncOptions } from "../generator/options.js";
import { type LeaseEvents, type LeaseHealth, type LeaseStats } from "./events.js";
/** The condition of a leased generator. */
export type LeasedHealth = Health & {
    readonly lease: LeaseHealth;
};
/** The counters of a leased generator. */
export interface LeasedStats extends Stats {
    readonly lease: LeaseStats;
}
/**
 * A generator whose node id is leased. It mints as every `Snowflake` does. Between two leases synchronous calls throw
 * `LEASE_LOST`, and after the end of the window `LEASE_EXPIRED`, both with `retryAfterMs`; asynchronous calls wait.
 */
export declare class LeasedSnowflake<const L extends LayoutInput = "default"> extends Snowflake<L> {
    #private;
    /**
     * Resolves when an ID can be minted. With `renew: "calls"` it first has the lease renewed if half of the window is over, and
     * waits for the answer; if the store does not answer within the time of an attempt (a tenth of the window, at most 10
     * seconds and `maxAsyncWaitMs`), and the window is not over, it resolves nevertheless. Rejects with the errors of
     * `lease()`, at the latest after `maxAsyncWaitMs`, and with the reason of the signal. On Workers it is what `leased()` does: a
     * renewal that is due is begun, and is not waited for.
     */
    readonly ready: (options?: AsyncOptions) => Promise<void>;
    /**
     * Ends the lease: waits for the attempt to renew that is under way, closes the state, and tells the store that the node
     * id is free. Minting throws `CLOSED` at once. If the store cannot be told, there is an event `refused`, and the node id
     * is free after its window. Without `close()`, as after a crash, nothing repeats either. What `leased()` of `frazil/workers`
     * returns is shared by all requests of the isolate, so do not call this in one of them; it waits for no attempt of another request.
     */
    readonly close: () => Promise<void>;
    /** Counters of this generator and of its lease. */
    readonly stats: () => LeasedStats;
    /** The condition of the generator and of its lease, for a health check. Issues no ID, and does not ask the store. */
    readonly health: () => LeasedHealth;
    /** Calls the listener at each event of that name. */
    readonly on: <E extends keyof LeaseEvents>(event: E, listener: LeaseEvents[E]) => this;
    /** Removes a listener. */
    readonly off: <E extends keyof LeaseEvents>(event: E, listener: LeaseEvents[E]) => this;
    /** `close()`, for `await using`. What `leased()` of `frazil/workers` returns belongs to the isolate: there it does nothing. */
    [Symbol.asyncDispose](): Promise<void>;
}
