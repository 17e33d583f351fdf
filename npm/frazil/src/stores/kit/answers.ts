/** What the operations of a store answer: leases, refusals and errors, in the same words for all stores. */
import { ConfigError, LeaseError } from "../../base/errors.js";
import { sleep } from "../../base/wait.js";
import type { Answer, RefusalReason } from "../lease-store.js";
import type { ScopeRecord } from "./lease/requests.js";

/** A whole number of a database, which comes as a number, a bigint or digits. */
export type Whole = number | bigint | string | null;

/** The row that a statement of `acquire` or `renew` answers with. Without a reason, it is a lease. */
export interface AnswerRow {
  readonly reason: RefusalReason | null;
  readonly now_ms: Whole;
  readonly node: Whole;
  readonly from_ms: Whole;
  readonly until_ms: Whole;
  readonly free_at_ms: Whole;
  readonly window_max_ms: Whole;
  readonly layout: string | null;
}

/** A whole number as a JavaScript number. Drivers return 64 bits as text or as a bigint, where a number is not exact. */
export function wholeOf(field: string, value: unknown): number {
  const number =
    typeof value === "bigint" || (typeof value === "string" && /^-?\d+$/.test(value)) ? Number(value) : value;
  if (!Number.isSafeInteger(number))
    throw storeRefused(`${field} is ${String(value)} in the answer: must be a whole number up to 2^53 - 1`);
  return number as number;
}

/** Whether a driver returned a whole number: a bigint, digits or an exact number. */
export const isWhole = (value: unknown): value is bigint | number | string =>
  typeof value === "bigint" || Number.isSafeInteger(value) || (typeof value === "string" && /^-?\d+$/.test(value));

/** The answer in a row. */
export function answerOf(row: AnswerRow, grant: string): Answer {
  const { reason } = row;
  if (reason === null) {
    return {
      granted: true,
      grant,
      node: wholeOf("node", row.node),
      fromMs: wholeOf("from_ms", row.from_ms),
      untilMs: wholeOf("until_ms", row.until_ms),
      storeNowMs: wholeOf("now_ms", row.now_ms),
    };
  }
  if (reason === "missing") return { granted: false, reason };
  return {
    granted: false,
    reason,
    storeNowMs: wholeOf("now_ms", row.now_ms),
    ...(row.free_at_ms !== null && { freeAtMs: wholeOf("free_at_ms", row.free_at_ms) }),
    ...(reason === "window" && { windowMaxMs: wholeOf("window_max_ms", row.window_max_ms) }),
    ...(reason === "layout" && { layout: String(row.layout) }),
  };
}

/**
 * Whether a node id was free, and another client had locked it or made its row meanwhile: then the next attempt sees it. A scope
 * that shares its numbers may have no row of its own.
 */
export const isLostRace = (answer: Answer): boolean =>
  !answer.granted &&
  answer.reason === "exhausted" &&
  answer.sharedWith === undefined &&
  (answer.freeAtMs ?? 0) <= (answer.storeNowMs as number);

/** `STORE_REFUSED`: the store must be set up in another way first. */
export const storeRefused = (message: string, cause?: unknown): LeaseError =>
  new LeaseError("STORE_REFUSED", message, { ...(cause !== undefined && { cause }) });

/** For a client that takes part in a transaction of the program. */
export const TRANSACTION_RULE =
  "the client is inside a transaction of yours, whose rollback takes back what was handed out. Give the store a pool, or a connection of its own, and end each transaction before its connection is released";

/** Why a server whose expression for the option `incarnation` has no value is refused. */
export const NO_INCARNATION =
  "the expression of the option incarnation is null or empty, so no failover could be told. It must always have a value";

/** `STORE_UNAVAILABLE`: the store did not answer, and it is unknown whether the operation took place. */
export const storeUnavailable = (message: string, cause?: unknown): LeaseError =>
  new LeaseError("STORE_UNAVAILABLE", message, { retryable: true, ...(cause !== undefined && { cause }) });

/** A store, as errors name it. */
export interface NamedStore {
  readonly name: string;
  /**
   * How to run calls once, where that is not from a migration or a shell. `flags`: those of `npx frazil ddl` that print the same as SQL,
   * without that of `layout`, the option of `init`.
   *
   * @internal
   */
  setUpBy?(calls: string, flags: string, layout?: string): string;
}

/** How to run a call of a store once. */
export function onceFor(store: NamedStore, call: string, flags: string, layout?: string): string {
  const calls = `${"migrate" in store ? "await store.migrate(); " : ""}await store.${call}`;
  return `run once, ${store.setUpBy?.(calls, flags, layout) ?? `from a migration or a shell: ${calls}`}`;
}

/**
 * `STORE_NOT_INITIALISED`: a store has no record of a scope. `place`: where it looked. Another place is the first that comes to
 * mind: who makes a second record there repeats the IDs of the first. `layout`: the option to pass, if the layout is known.
 */
export const notInitialised = (store: NamedStore, scope: string, place?: string, layout = "layout"): LeaseError =>
  new LeaseError(
    "STORE_NOT_INITIALISED",
    `the ${store.name} store has no record of the scope "${scope}"${place === undefined ? "" : `. It looked in ${place}`}. ` +
      "Check that this is the place of the other programs of the scope: a second record gives out the same node ids. If the scope is " +
      `new, ${onceFor(store, `init({ scope: "${scope}", ${layout} })`, `--scope ${scope}`, layout)}. If the store has lost the ` +
      `record, restore it and call fence({ scope: "${scope}" }): an empty store and a lost one look the same, and IDs would repeat`,
    { field: "scope", value: scope },
  );

/** What a scope keeps of `init` for ever. `nodeIdsFrom`: the table of another generator that its node ids come from, if any. */
export type Initialised = Pick<ScopeRecord, "layout" | "nodeFrom" | "nodeTo"> & {
  readonly nodeIdsFrom?: string | null;
};

/** What `init` finds where its record was to be: a record, or rows without one. */
export type Found = Initialised | "rows";

const described = ({ layout, nodeFrom, nodeTo, nodeIdsFrom }: Initialised): string =>
  `the layout "${layout}" and the node ids ${nodeFrom} to ${nodeTo}${nodeIdsFrom ? ` of ${nodeIdsFrom}` : ""}`;

/**
 * What `init` resolves to: true if it found nothing and wrote its record, false if the record that it found is the one that it was
 * to write. `windowMaxMs` is not compared: that of the record stays.
 *
 * @throws {ConfigError} `STATE_CONFLICT` for another layout, other node ids, and rows without a record.
 */
export function isNew(record: Initialised & { readonly scope: string }, found: Found | undefined): boolean {
  if (found === undefined) return true;
  const { scope } = record;
  if (found !== "rows" && described(found) === described(record)) return false;
  const rule =
    found === "rows"
      ? "must have no rows: its record was deleted, and its node ids may be in use. Restore the record, or use another scope"
      : `must have no other record: it has one, of ${described(found)}, and not of ${described(record)}. A scope keeps what it began with: pass the same, or another scope`;
  throw new ConfigError("STATE_CONFLICT", `scope is "${scope}": ${rule}`, { field: "scope", value: scope, rule });
}

/** How often a statement that lost a race is repeated. */
export const MAX_ATTEMPTS = 20;

/** How often an allocation is: all processes of a tag replace one record, where those of a scope write a row each. */
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
