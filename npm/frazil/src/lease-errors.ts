/** The errors of leases: why a store granted nothing, in words that say what to do. */
import { Layout } from "frazil";
import { ConfigError, type ErrorCode, type ErrorDetails, FrazilError, LeaseError, refusal } from "./errors.js";
import { CODES, RULES, SUBJECTS } from "./generated/lease.js";
import { First, Slot } from "./generated/page.js";
import { Rule } from "./generated/rules.js";
import type { Port } from "./port.js";
import { notInitialised } from "./stores/answers.js";
import { layoutText } from "./stores/layout-text.js";
import type { LeaseStore, Refusal } from "./stores/store.js";

/** What the errors name. @internal */
export interface LeaseContext {
  readonly store: LeaseStore;
  readonly scope: string;
  /** As `layoutText` writes it. */
  readonly layout: string;
  readonly windowMs: number;
}

/** The error for a status of a call for leases. `value` is what the caller or the store gave. @internal */
export function errorOf(port: Port, status: number, value: unknown): FrazilError {
  const { numbers } = port;
  const rule = RULES[numbers[Slot.RULE] as number];
  const code = CODES[status] as ErrorCode | undefined;
  if (rule === undefined && code === undefined) return port.error(status, value);
  const [min, max] = [numbers[Slot.MIN], numbers[Slot.MAX]];
  const subject = SUBJECTS[numbers[Slot.SUBJECT] as number] ?? port.subject;
  const Class = status < First.LeaseError ? ConfigError : LeaseError;
  const known = rule ?? (Rule.WHOLE_NUMBER as Rule);
  return refusal(Class, code ?? "INVALID_OPTION", subject, value, known, min, max);
}

/** Which store and scope an error is about. */
const where = ({ store, scope }: LeaseContext) => `in the ${store.name} store, scope ${JSON.stringify(scope)}`;

/** The error for an answer that the core refused. `error` says what is wrong with it. @internal */
export function untrueAnswer(error: FrazilError, context: LeaseContext): FrazilError {
  const { code, message, field, value, rule } = error;
  // A clock of this machine may be what is wrong.
  if (code !== "STORE_REFUSED") return error;
  return new LeaseError(code, `an answer cannot be true ${where(context)}: ${message.slice(code.length + 2)}`, {
    field,
    value,
    rule,
  } as ErrorDetails);
}

/** What to write for the layout that `layoutText` wrote as `text`. */
function toPass(text: string): string {
  const name = Layout.names.find((name) => layoutText(Layout.named(name)) === text);
  if (name !== undefined) return `layout: "${name}"`;
  const fields = [...text.matchAll(/ ([a-z]+)(\d+)\b/g)].map(([, kind, bits]) => `{ kind: "${kind}", bits: ${bits} }`);
  const [epochMs, tick] = text.split(" ");
  const unsigned = text.endsWith(" unsigned") ? "unsigned: true, " : "";
  return `layout: { epochMs: ${epochMs}, tickMs: ${Number.parseInt(`${tick}`, 10)}, ${unsigned}fields: [${fields.join(", ")}] }`;
}

/** What is in the way if another generator draws from the same numbers, which it never gives back. */
function sharedMessage({ sharedWith, freeAtMs }: Refusal, waitMs: number, where: string): string {
  const own =
    freeAtMs === undefined
      ? `the scope has no node id of its own ${where}`
      : `every node id of the scope is held ${where}. The next one is free in ${waitMs} ms, unless its holder renews it`;
  return `${own}, and no node id can be made: the layout has none beyond ${sharedWith}. See docs/moving-in.md`;
}

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
  // A store that refuses a renewal says why this lease ends, and not what another one would get.
  switch (verb === "renew" && answer?.reason === "exhausted" ? undefined : answer?.reason) {
    case "missing":
      return notInitialised(context.store, scope, answer.place);
    case "layout":
      return new LeaseError(
        "LAYOUT_MISMATCH",
        `the scope ${where(context)} was initialised for the layout "${answer.layout}", and this generator has "${layout}": pass ${toPass(`${answer.layout}`)}, or initialise another scope, whose IDs go to another column`,
        { field: "layout", value: layout },
      );
    case "window":
      return refusal(
        ConfigError,
        "INVALID_OPTION",
        "windowMs",
        windowMs,
        Rule.WINDOW_MAX,
        undefined,
        answer.windowMaxMs,
      );
    case "exhausted":
      if (answer?.sharedWith !== undefined)
        return new LeaseError(
          "NODE_IDS_EXHAUSTED",
          sharedMessage(answer, waitMs, where(context)),
          answer.freeAtMs === undefined ? { retryable: false, cause } : wait,
        );
      return new LeaseError(
        "NODE_IDS_EXHAUSTED",
        `every node id is held ${where(context)}. The next one is free in ${waitMs} ms, unless its holder renews it: stop a holder, or widen the range of node ids`,
        wait,
      );
    case "fenced":
      if (verb === "renew")
        return new LeaseError(
          "LEASE_LOST",
          `the fence of the scope is beyond this window, so the node id may be granted to another holder ${where(context)}: the store is another one than before (a failover, a restore), rows were lost or deleted, programs of the scope have different incarnation options, or fence() was called`,
          { retryable: true },
        );
      return new LeaseError(
        "NODE_IDS_EXHAUSTED",
        `no node id can be granted ${where(context)} until its fence has passed, in ${waitMs} ms: the store is another one than before (a failover, a restore), rows were lost or deleted, programs of the scope have different incarnation options, or fence() was called`,
        wait,
      );
    case "taken":
      return new LeaseError(
        "LEASE_LOST",
        `the node id has another holder ${where(context)}, or a copy of this process renewed it`,
        { retryable: true },
      );
    case "incarnation":
    case "behind":
      return new LeaseError(
        "STORE_UNAVAILABLE",
        `the store is another one than before (a failover, a restore) or has lost writes, and must be fenced first, ${where(context)}`,
        { retryable: true },
      );
    default:
      return new LeaseError(
        "STORE_REFUSED",
        `the answer is neither a lease nor a refusal with a known reason, ${where(context)}: see LeaseStore in docs/stores.md`,
        { field: "reason", value: answer?.reason },
      );
  }
}

/** The error for an operation of the store that was rejected. @internal */
export function rejectionError(error: unknown, verb: string, context: LeaseContext): FrazilError {
  if (FrazilError.is(error)) return error;
  const said = error instanceof Error ? `: ${error.message}` : typeof error === "string" ? `: ${error}` : "";
  return new LeaseError("STORE_UNAVAILABLE", `${verb} failed ${where(context)}${said}`, {
    retryable: true,
    cause: error,
  });
}

/** The error for an operation of the store that took too long. @internal */
export function timeoutError(verb: string, timeoutMs: number, context: LeaseContext): FrazilError {
  const within = timeoutMs > 0 ? `within ${timeoutMs} ms` : "yet, and maxAsyncWaitMs is 0: nothing was waited for,";
  const known = context.store.waitsFor?.();
  const why = known === undefined ? "" : `: ${known}`;
  return new LeaseError("STORE_UNAVAILABLE", `${verb} had no answer ${within} ${where(context)}${why}`, {
    retryable: true,
  });
}
