/** The errors of leases: why a store granted nothing, in words that say what to do. */
import { Layout } from "frazil";
import { noAnswer, type StoreContext } from "../asking/store-errors.js";
import { ConfigError, type FrazilError, LeaseError, refusal } from "../base/errors.js";
import { fromOutside } from "../base/outside-text.js";
import { PackageRule } from "../base/package-rules.js";
import { notInitialised } from "../stores/kit/errors.js";
import { layoutText } from "../stores/kit/lease/layout-text.js";
import type { LeaseStore, Refusal } from "../stores/lease-store.js";

/** What the errors name. @internal */
export interface LeaseContext extends StoreContext {
  readonly store: LeaseStore;
  readonly scope: string;
  /** As `layoutText` writes it. */
  readonly layout: string;
  readonly windowMs: number;
  /** Whether no copies of the holder are made: it is an isolate of Cloudflare Workers, by `leased()`. */
  readonly isUncopied: boolean;
  /** What a thread does that holds many node ids of the scope itself; `undefined` if it does not. */
  readonly manyHere?: () => string | undefined;
}

/** What is wrong with `lease()` in a Worker; `undefined` elsewhere. @internal */
export function inWorkers(): string | undefined {
  const { navigator } = globalThis as { navigator?: { userAgent?: unknown } };
  return navigator?.userAgent === "Cloudflare-Workers"
    ? "In a Worker, lease() takes another node id in each request. Call leased() of frazil/workers, which has one for all requests of an isolate."
    : undefined;
}

/** What to do if every node id is held. */
function whenHeld({ isUncopied, manyHere }: LeaseContext): string {
  const instead = "horten windowMs, or begin a scope, and a column, with more node ids.";
  return isUncopied ? `S${instead}` : (inWorkers() ?? manyHere?.() ?? `Stop a holder, s${instead}`);
}

/** The name of the layout that `layoutText` wrote as `text`, if it has one. */
const nameOf = (text: string) => Layout.names.find((name) => layoutText(Layout.named(name)) === text);

/** What to write for such a layout. */
function toPass(text: string): string {
  const name = nameOf(text);
  if (name !== undefined) return `layout: "${name}"`;
  const fields = [...text.matchAll(/ ([a-z]+)(\d+)\b/g)].map(([, kind, bits]) => `{ kind: "${kind}", bits: ${bits} }`);
  const [epochMs, tick] = text.split(" ");
  const unsigned = text.endsWith(" unsigned") ? "unsigned: true, " : "";
  return `layout: { epochMs: ${epochMs}, tickMs: ${Number.parseInt(`${tick}`, 10)}, ${unsigned}fields: [${fields.join(", ")}] }`;
}

const nextFree = (waitMs: number) => `The next one is free in ${waitMs} ms, unless its holder renews it.`;

/** The obstacle if another generator draws from the same numbers, which it never gives back. */
function sharedMessage({ sharedWith, freeAtMs }: Refusal, waitMs: number, where: string): string {
  const [own, next] =
    freeAtMs === undefined
      ? [`the scope has no node id ${where}`, ""]
      : [`all node ids of the scope are in use ${where}`, nextFree(waitMs)];
  return `${own}, and the layout has none beyond ${sharedWith}\nSee the page "Migrating a fleet". ${next}`;
}

/** Why a scope has a fence. */
const FENCED =
  "The store is another one than before (a failover, a restore), rows were lost or deleted, programs of the scope have different incarnation options, or fence() was called.";

/** The error for a refusal of the store. `cause`: why a node id that it had granted was given back. @internal */
export function refusalError(
  verb: "acquire" | "renew",
  answer: Refusal,
  context: LeaseContext,
  cause?: FrazilError,
): FrazilError {
  const { scope, layout, windowMs } = context;
  const waitMs = Math.max(1, (answer?.freeAtMs ?? 0) - (answer?.storeNowMs ?? 0));
  const wait = { retryable: true, retryAfterMs: waitMs, cause };
  const initialised = fromOutside(answer?.layout);
  // A store that refuses a renewal says why this lease ends, and not what another one would get.
  switch (verb === "renew" && answer?.reason === "exhausted" ? undefined : answer?.reason) {
    case "missing":
      return notInitialised(context.store, scope, answer.place, toPass(layout));
    case "layout":
      return new LeaseError(
        "LAYOUT_MISMATCH",
        `layout must be "${nameOf(initialised) ?? initialised}" ${context.where}, got "${nameOf(layout) ?? layout}"\nPass ${toPass(initialised)}, or initialise another scope, whose IDs go to another column.`,
        { field: "layout", value: layout },
      );
    case "window":
      return refusal(
        ConfigError,
        "INVALID_OPTION",
        "windowMs",
        windowMs,
        PackageRule.WINDOW_MAX,
        undefined,
        answer.windowMaxMs,
      );
    case "exhausted":
      if (answer?.sharedWith !== undefined)
        return new LeaseError(
          "NODE_IDS_EXHAUSTED",
          sharedMessage(answer, waitMs, context.where),
          answer.freeAtMs === undefined ? { retryable: false, cause } : wait,
        );
      return new LeaseError(
        "NODE_IDS_EXHAUSTED",
        `all node ids are in use ${context.where}\n${whenHeld(context)} ${nextFree(waitMs)}`,
        wait,
      );
    case "fenced":
      if (verb === "renew")
        return new LeaseError(
          "LEASE_LOST",
          `the fence of the scope is beyond this window, so another holder may get the node id ${context.where}\n${FENCED}`,
          { retryable: true },
        );
      return new LeaseError(
        "NODE_IDS_EXHAUSTED",
        `no node id can be granted ${context.where} until its fence has passed, in ${waitMs} ms\n${FENCED}`,
        wait,
      );
    case "taken":
      return new LeaseError(
        "LEASE_LOST",
        `the node id has another holder ${context.where}, or a copy of this process renewed it`,
        { retryable: true },
      );
    case "incarnation":
    case "behind":
      return new LeaseError(
        "STORE_UNAVAILABLE",
        `the store is another one than before (a failover, a restore) or has lost writes, and must be fenced first, ${context.where}`,
        { retryable: true },
      );
    default:
      return new LeaseError(
        "STORE_REFUSED",
        `the answer is neither a lease nor a refusal with a known reason, ${context.where}\nThe interface LeaseStore of frazil/lease has the reasons.`,
        { field: "reason", value: answer?.reason },
      );
  }
}

/** The error for an operation of the store that took too long. @internal */
export function timeoutError(verb: string, timeoutMs: number, context: LeaseContext): FrazilError {
  const within = timeoutMs > 0 ? `within ${timeoutMs} ms` : "at once (maxAsyncWaitMs is 0)";
  return noAnswer(verb, within, context);
}
