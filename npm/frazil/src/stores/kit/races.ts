/** Statements that lost a race with another client, and are repeated. */
import { sleep } from "../../base/wait.js";
import type { Answer } from "../lease-store.js";

/**
 * Whether a node id was free, and another client had locked it or made its row meanwhile: then the next attempt sees it. A scope that
 * shares its numbers may have no row.
 */
export const isLostRace = (answer: Answer): boolean =>
  !answer.granted &&
  answer.reason === "exhausted" &&
  answer.sharedWith === undefined &&
  (answer.freeAtMs ?? 0) <= (answer.storeNowMs as number);

/** How often a statement that lost a race is repeated. */
export const MAX_ATTEMPTS = 20;

/** How often an allocation is: all processes of a tag replace one record, while those of a scope write a row each. */
export const MAX_ALLOCATE_TRIES = 3 * MAX_ATTEMPTS;

/**
 * Waits before a statement that lost a race is repeated: a random time that grows from `firstMs` to `longestMs`, so that clients do not
 * meet again. How long a holder waits for a store that failed is another question, which the core answers.
 */
export const sleepAfterRace = (
  races: number,
  signal: AbortSignal | undefined,
  { firstMs = 1, longestMs = 100 } = {},
): Promise<number> => sleep(Math.random() * Math.min(longestMs, firstMs * 2 ** races), signal);
