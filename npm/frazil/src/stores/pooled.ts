/**
 * Statements on connections of a pool. A connection that breaks without a word, as when a host loses power or a firewall forgets it,
 * never answers, and its pool keeps it for minutes. So one whose statement had no answer in the time of the attempt is destroyed, and the
 * next attempt gets another one. The attempt knows its time: its signal aborts with a `TimeoutError`. A statement that is aborted for
 * another reason says nothing about its connection, which is released when the server answers.
 */
import { monotonicClock } from "../clock.js";
import { untilAborted } from "./answers.js";

/** A connection that was taken from a pool. */
export interface PooledConnection<Value> {
  query(text: string, values: Value[]): PromiseLike<unknown>;
  /** To the pool. `error`: what the statement failed with. */
  release(error: unknown): unknown;
  /** Ends it without a word to the server, and tells the pool. */
  destroy(): void;
}

/** Runs a statement until the signal aborts. */
export type PooledQuery<Value> = (text: string, values: Value[], signal?: AbortSignal) => Promise<unknown>;

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

/** Runs each statement on a connection that `take` takes from a pool. */
export function pooledQuery<Value>(take: () => PromiseLike<PooledConnection<Value>>): PooledQuery<Value> {
  /** By statement: when a connection was destroyed for it. */
  const destroyedMs = new Map<string, number>();
  /** By the signal of an attempt: when it had its first statement run. */
  const attemptedMs = new WeakMap<AbortSignal, number>();
  return async (text, values, signal) => {
    signal?.throwIfAborted();
    const attemptMs = (signal && attemptedMs.get(signal)) ?? monotonicClock();
    if (signal) attemptedMs.set(signal, attemptMs);
    const taking = take();
    let connection: PooledConnection<Value>;
    try {
      connection = await untilAborted(taking, signal);
    } catch (error) {
      // A busy pool hands it out later, when nobody waits for it.
      taking.then(
        (late) => late.release(undefined),
        () => {},
      );
      throw error;
    }
    const beganMs = monotonicClock();
    let isOver = false;
    const over = (error?: unknown) => {
      if (isOver) return;
      isOver = true;
      // Of a connection that has ended, `mariadb` rejects this. The pool knows.
      Promise.resolve(connection.release(error)).then(undefined, () => {});
    };
    const running = (async () => connection.query(text, values))();
    running.then(() => over(), over);
    try {
      const result = await untilAborted(running, signal);
      destroyedMs.delete(text);
      return result;
    } catch (error) {
      const nowMs = monotonicClock();
      // Else the attempt waited for the pool, or for other statements, for most of its time.
      const hadTime = isTimeOut(signal) && nowMs - beganMs >= (nowMs - attemptMs) / 2;
      if (!isOver && hadTime && nowMs - (destroyedMs.get(text) ?? Number.NEGATIVE_INFINITY) >= REST_MS) {
        isOver = true;
        destroyedMs.set(text, nowMs);
        connection.destroy();
      }
      throw error;
    }
  };
}
