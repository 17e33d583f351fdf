/**
 * The contract of a store of segments: a counter for each tag, from which processes allocate ranges. No number is allocated twice.
 */
import type { HostAbortSignal } from "../base/host-types.js";

/** What a process asks for. */
export interface AllocateRequest {
  /** The name of the counter: 1 to 128 characters. */
  readonly tag: string;
  /** How many numbers. `undefined`: as many as the store has for the tag, or else 1000, and at most `maxCount`. */
  readonly count: number | undefined;
  /**
   * How many numbers a range has at most where `count` is `undefined`, since `failoverSkip` is some multiple of that. A store with its own
   * step for the tag, which others share, keeps to it.
   */
  readonly maxCount: number;
  /**
   * The least number at which the range may begin: the end of all that was allocated to this process. If the counter is below it, the store
   * has lost an allocation.
   */
  readonly above: bigint;
  /**
   * How many numbers are skipped at least where the store has lost allocations, or is another one than before; and less than twice as
   * many. A store that goes back to one record twice must not skip to the same number twice: take the rest from `attempt`, or at random.
   */
  readonly failoverSkip: number;
  /** Who asks: 32 hexadecimal digits, drawn once for each `Segment`. */
  readonly holder: string;
  /**
   * The attempt: 32 hexadecimal digits, the same for its retries. A store that has carried it out answers with the same range
   * again. A store that cannot tell allocates another one, and the numbers of the first are lost.
   */
  readonly attempt: string;
  /**
   * Aborts when no caller waits for the answer any more. Then it is unknown whether the attempt was carried out. The name of its reason is
   * `TimeoutError`, as with `AbortSignal.timeout()`, if the time is over: then the connection may be broken.
   */
  readonly signal?: HostAbortSignal | undefined;
}

/** A range of numbers: `first`, `first + stride`, and so on. */
export interface Allocation {
  /** The attempt that asked for it. */
  readonly attempt: string;
  /** The first number, from 0 to 2^63 - 2. */
  readonly first: bigint;
  /** How many numbers: at least one, and not more than 2^53 - 1. */
  readonly count: number;
  /** The distance from one number to the next. Default: 1. */
  readonly stride?: number;
  /** The step that the store has for the tag, in numbers, if it has one. */
  readonly step?: number;
}

/**
 * A store of segments. `allocate` rejects with `STORE_NOT_INITIALISED`, `STORE_REFUSED` or `STORE_UNAVAILABLE`.
 *
 * What it rejects with decides about calls that wait. An error of this package that is not `retryable` ends their wait: so a `LeaseError`
 * with `STORE_UNAVAILABLE` needs `{ retryable: true }`, since the default is `false`. After any other error, such as a driver's, the calls
 * wait for the next try, until their time is over.
 */
export interface SegmentStore {
  /** Its name in errors, such as `"Postgres"`. */
  readonly name: string;
  /** What stands for the store in a cache: two store objects with the same identity are the same store, as with `LeaseStore`. */
  readonly identity?: object;
  /** Allocates a range of a counter, in one atomic operation. */
  allocate(request: AllocateRequest): Promise<Allocation>;
  /** Why a call may be without an answer, as far as the client shows it. */
  waitsFor?(): string | undefined;
}

/** A store of segments of this package. */
export interface ManagedSegmentStore extends SegmentStore {
  /**
   * Makes the counter of a tag. Call it once for each tag, when the tag is new. A counter that is there stays as it is, so that
   * several processes may call it at once. Resolves to whether it made it.
   *
   * @throws {ConfigError} `INVALID_OPTION`.
   * @throws {LeaseError} `STORE_NOT_INITIALISED` without the tables; `STORE_REFUSED`, `STORE_UNAVAILABLE`.
   */
  initSegment(options: TagOptions): Promise<boolean>;
}

/** What `initSegment` makes. */
export interface TagOptions {
  /** The name of the counter: 1 to 128 characters. */
  readonly tag: string;
  /** The first number that is allocated. Default: 1. */
  readonly first?: bigint | number;
}
