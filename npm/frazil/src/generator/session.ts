/**
 * An outside bound on a generator: a lease (`frazil/lease`) or a ceiling (`durable()`). `Snowflake` calls these. Types only: the entry
 * `frazil` contains no timers or stores.
 */
import type { FrazilError } from "../base/errors.js";
import type { Answers, Port } from "../core/port.js";

/** Marks a session, which the constructor of `Snowflake` takes as a second argument. @internal */
export const SESSION = /* @__PURE__ */ Symbol.for("frazil.session");

/** The part of a generator that its session sees. @internal */
export interface Minting {
  readonly port: Port;
  readonly handle: number;
  /** Sets the held node id, and drops the block of reserved IDs. */
  changed(node: number | undefined): void;
}

/** @internal */
export interface Session {
  readonly [SESSION]: true;
  /** The answers of refused minting calls, where they differ. */
  readonly answers?: Answers;
  /** Further text for the error after `close()`. */
  readonly closed?: string;
  /** The time for IDs. It limits how long a block is used. */
  readonly clock: () => number;
  /** Opens the generator. `write` writes the rest of the request into the frame. Returns the status. */
  open(port: Port, write: () => void): number;
  /** The generator is open. */
  opened(minting: Minting): void;
  /** Reads the input of the next call, which may run user code. `reserveAtMs`: the time at which IDs are reserved next. */
  read(reserveAtMs?: number): void;
  /** Writes that input into the frame. Runs no user code. */
  write?(numbers: Float64Array): void;
  /**
   * Where only calls renew, asks the store if a renewal is due. Resolves to the time waited: until the store answers, an attempt times out,
   * or `limitMs` is over. `undefined` if there is nothing to wait for.
   */
  renewIfDue?(signal: AbortSignal | undefined, limitMs: number): Promise<number> | undefined;
  /** A call was refused. */
  refused?(error: FrazilError): void;
  /**
   * The pause of an asynchronous call before its next try, if it may wait `limitMs`; `retryMs` for a refusal that does not concern the
   * session.
   */
  retryMs?(error: FrazilError, retryMs: number, limitMs: number): number;
  /** Waits after a refusal, at most until the session has changed. Resolves to the time waited, in milliseconds. */
  readonly wait?: (ms: number, signal: AbortSignal | undefined, refusal: FrazilError) => Promise<number>;
}
