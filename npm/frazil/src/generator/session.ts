/**
 * What bounds a generator from outside: a lease (`frazil/lease`) or a ceiling (`durable()`). `Snowflake` calls these. Types only: the
 * entry `frazil` contains nothing of timers and stores.
 */
import type { FrazilError } from "../base/errors.js";
import type { Answers, Port } from "../core/port.js";

/** Marks a session, which the constructor of `Snowflake` takes as a second argument. @internal */
export const SESSION = /* @__PURE__ */ Symbol.for("frazil.session");

/** What a generator gives its session. @internal */
export interface Minting {
  readonly port: Port;
  readonly handle: number;
  /** Sets the node id that is held, and drops the block of reserved IDs. */
  changed(node: number | undefined): void;
}

/** @internal */
export interface Session {
  readonly [SESSION]: true;
  /** What refusals of calls that mint say, where that differs. */
  readonly answers?: Answers;
  /** What the error after `close()` says besides. */
  readonly closed?: string;
  /** The time for IDs. It decides how long a block is used. */
  readonly clock: () => number;
  /** Opens the generator. `write` writes the rest of the request into the frame. Returns the status. */
  open(port: Port, write: () => void): number;
  /** The generator is open. */
  opened(minting: Minting): void;
  /** Reads what the call that follows needs, which may run code of the user. `reserveAtMs`: the time at which IDs are reserved next. */
  read(reserveAtMs?: number): void;
  /** Writes what was read into the frame. Runs no code of the user. */
  write?(numbers: Float64Array): void;
  /**
   * Where only calls renew, has the store asked if that is due. Resolves when the store has answered, or after the time of an
   * attempt, or after `limitMs`, to how long that was; `undefined` if there is nothing to wait for.
   */
  renewIfDue?(signal: AbortSignal | undefined, limitMs: number): Promise<number> | undefined;
  /** A call was refused. */
  refused?(error: FrazilError): void;
  /**
   * How long an asynchronous call waits before it tries again, if it may wait `limitMs`; `retryMs` for a refusal that the
   * session has nothing to do with.
   */
  retryMs?(error: FrazilError, retryMs: number, limitMs: number): number;
  /** Waits because of a refusal, at most until the session has changed. Resolves to how long that was, in milliseconds. */
  readonly wait?: (ms: number, signal: AbortSignal | undefined, refusal: FrazilError) => Promise<number>;
}
