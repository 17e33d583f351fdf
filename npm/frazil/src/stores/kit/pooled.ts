/**
 * Statements on connections of a pool. A connection that breaks without a word, as when a host loses power or a firewall forgets it,
 * never answers, and its pool keeps it for minutes. So one whose statement had no answer in the time of the attempt is destroyed, and the
 * next attempt gets another one. The attempt knows its time: its signal aborts with a `TimeoutError`. A statement that is aborted for
 * another reason says nothing about its connection, which is released when the server answers.
 *
 * A program can release a connection without the end of its transaction, and the rollback of that takes back what the next statement has
 * written. So a connection that was inside one is destroyed, and the statement runs on another.
 */
import { monotonicClock } from "../../base/clock.js";
import { untilAborted } from "../../base/wait.js";
import { storeUnavailable } from "./errors.js";
import { MAX_ATTEMPTS } from "./races.js";

/** A connection that was taken from a pool. */
export interface PooledConnection<Value, Result> {
  /** Runs a statement. `undefined`: in a transaction with which the connection was released. */
  run(text: string, values: Value[]): Promise<Result | undefined>;
  /** To the pool. `error`: what the statement failed with. */
  release(error: unknown): unknown;
  /** Ends it without a word to the server, and tells the pool. */
  destroy(): void;
}

/** Runs a statement until the signal aborts. */
export type PooledQuery<Value, Result> = (text: string, values: Value[], signal?: AbortSignal) => Promise<Result>;

/**
 * How long the next connection of the same statement is left alone, unless the statement succeeded meanwhile. A server that is there and
 * waits for a lock goes on with a statement whose connection is gone: each connection that is destroyed would be one more there. At one
 * in 5 minutes, the 100 connections that Postgres has by default last for 8 hours.
 */
const REST_MS = 5 * 60_000;

/** Whether a signal has aborted because the time was over: that of an attempt, or of a call such as `migrate()`. */
function isTimeOut(signal: AbortSignal | undefined): boolean {
  const { name, code } = Object(signal?.reason) as { name?: unknown; code?: unknown };
  return name === "TimeoutError" || code === "STORE_UNAVAILABLE";
}

/** A connection that is being taken. A busy pool may hand it out later, when no call waits for it: then it is given back. */
async function taken<Value, Result>(
  taking: PromiseLike<PooledConnection<Value, Result>>,
  signal: AbortSignal | undefined,
): Promise<PooledConnection<Value, Result>> {
  try {
    return await untilAborted(taking, signal);
  } catch (error) {
    taking.then(
      (late) => late.release(undefined),
      () => {},
    );
    throw error;
  }
}

/** Runs each statement on a connection that `take` takes from a pool. */
export function pooledQuery<Value, Result extends object>(
  take: () => PromiseLike<PooledConnection<Value, Result>>,
): PooledQuery<Value, Result> {
  /** By statement: when a connection was destroyed for it. */
  const destroyedMs = new Map<string, number>();
  /** By the signal of an attempt: when it had its first statement run. */
  const attemptedMs = new WeakMap<AbortSignal, number>();

  /** Runs a statement on the next connection. `undefined`: that was inside a transaction. */
  async function runOnNext(text: string, values: Value[], signal?: AbortSignal): Promise<Result | undefined> {
    signal?.throwIfAborted();
    const attemptMs = (signal && attemptedMs.get(signal)) ?? monotonicClock();
    if (signal) attemptedMs.set(signal, attemptMs);
    const connection = await taken(take(), signal);
    const beganMs = monotonicClock();
    let isOver = false;
    const over = (end: () => unknown) => {
      if (isOver) return;
      isOver = true;
      // Of a connection that has ended, `mariadb` rejects this. The pool knows.
      Promise.resolve(end()).then(undefined, () => {});
    };
    const running = connection.run(text, values);
    running.then(
      (result) => over(() => (result === undefined ? connection.destroy() : connection.release(undefined))),
      (error: unknown) => over(() => connection.release(error)),
    );
    try {
      const result = await untilAborted(running, signal);
      destroyedMs.delete(text);
      return result;
    } catch (error) {
      const nowMs = monotonicClock();
      // Else the attempt waited for the pool, or for other statements, for most of its time.
      const hadTime = isTimeOut(signal) && nowMs - beganMs >= (nowMs - attemptMs) / 2;
      if (!isOver && hadTime && nowMs - (destroyedMs.get(text) ?? Number.NEGATIVE_INFINITY) >= REST_MS) {
        destroyedMs.set(text, nowMs);
        over(() => connection.destroy());
      }
      throw error;
    }
  }

  return async (text, values, signal) => {
    for (let count = 0; count < MAX_ATTEMPTS; count++) {
      const result = await runOnNext(text, values, signal);
      if (result !== undefined) return result;
    }
    throw storeUnavailable(
      `${MAX_ATTEMPTS} connections of the pool, one after the other, were inside a transaction of yours\nEnd each with COMMIT or ROLLBACK before its connection is released.`,
    );
  };
}
