/** The part of `health()` and `stats()` about the lease of a generator. */
import type { FrazilError } from "../base/errors.js";

/** Counters of a lease, over all node ids that it had. */
export interface LeaseStats {
  /** Requests to the store: to acquire, to renew, and to fence it. */
  readonly attempts: number;
  readonly acquired: number;
  readonly renewed: number;
  readonly lost: number;
  /** Attempts that failed or were refused. */
  readonly refused: number;
}

/** The condition of a lease. */
export interface LeaseHealth {
  readonly scope: string;
  /** The name of the store. */
  readonly store: string;
  /** Absent while no lease is held. */
  readonly node?: number;
  readonly fromMs?: number;
  readonly untilMs?: number;
  /** How many attempts failed in a row. */
  readonly failures: number;
  /** Why the last of them failed. */
  readonly problem?: FrazilError;
  /** How long until the store may have answered, in milliseconds. */
  readonly nextMs: number;
  /**
   * How far the clock of this machine was ahead of the store's at the last answer, in milliseconds; negative if it was
   * behind. At the length of the window nothing can be minted.
   */
  readonly skewMs: number;
}
