/** The errors of stores, in the same words for all. */
import { LeaseError } from "../../base/errors.js";
import { fromOutside } from "../../base/outside-text.js";

/** What an error of a client says, as a part of a message. */
export const messageOf = (error: unknown): string =>
  fromOutside(error instanceof Error ? error.message : String(error));

/** `STORE_REFUSED`: the store must be set up in another way first. */
export const storeRefused = (message: string, cause?: unknown): LeaseError =>
  new LeaseError("STORE_REFUSED", message, { ...(cause !== undefined && { cause }) });

/** For a client that takes part in a transaction of the program. */
export const TRANSACTION_RULE =
  "the client is inside a transaction of yours, whose rollback takes back what was handed out\nGive the store a pool, or its own connection, and end each transaction before its connection is released.";

/** Why a server whose expression for the option `incarnation` has no value is refused. */
export const NO_INCARNATION =
  "the expression of the option incarnation is null or empty, so no failover could be told\nIt must always have a value.";

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
    `the ${fromOutside(store.name)} store has no record of the scope "${scope}"${place === undefined ? "" : ` in ${fromOutside(place)}`}\n` +
      "Check that this is the place of the other programs of the scope: a second record gives out the same node ids. If the scope is " +
      `new, ${onceFor(store, `init({ scope: "${scope}", ${layout} })`, `--scope ${scope}`, layout)}. If the store has lost the ` +
      `record, restore it and call fence({ scope: "${scope}" }): an empty store and a lost one look the same, and IDs would repeat.`,
    { field: "scope", value: scope },
  );
