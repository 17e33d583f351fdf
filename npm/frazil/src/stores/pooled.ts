/**
 * Statements on connections of a pool. A connection that breaks without a word, as when a host loses power or a firewall forgets it,
 * never answers, and its pool keeps it for minutes. So one whose statement had no answer in time is destroyed, and the next attempt
 * gets another one.
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
 * waits for a lock goes on with a statement whose connection is gone: each connection that is destroyed would be one more there.
 */
const REST_MS = 300_000;
/** What a statement takes at least that is aborted because it had no answer. Others are aborted since nobody wants the answer. */
const NO_ANSWER_MS = 2500;

/** Runs each statement on a connection that `take` takes from a pool. */
export function pooledQuery<Value>(take: () => PromiseLike<PooledConnection<Value>>): PooledQuery<Value> {
  /** By statement: when a connection was destroyed for it. */
  const destroyedMs = new Map<string, number>();
  return async (text, values, signal) => {
    signal?.throwIfAborted();
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
      const hadTime = nowMs - beganMs >= NO_ANSWER_MS;
      if (!isOver && hadTime && nowMs - (destroyedMs.get(text) ?? Number.NEGATIVE_INFINITY) >= REST_MS) {
        isOver = true;
        destroyedMs.set(text, nowMs);
        connection.destroy();
      }
      throw error;
    }
  };
}
