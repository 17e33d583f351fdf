/** Statistics and health of a generator: `stats()` and `health()`. */
import { Host } from "#binding";
import type { FrazilError } from "../base/errors.js";
import type { Backend } from "../core/boundary.js";
import type { Port } from "../core/port.js";
import type { StateFile } from "../core/state-files.js";
import { CODES, Slot } from "../generated/abi.js";
import type { Layout, Plan } from "../layout/index.js";
import { numberOrNaN } from "./request.js";

/** The counters of a generator. */
export interface Stats {
  readonly backend: Backend;
  /** IDs issued. */
  readonly issued: number;
  /** IDs that were reserved in advance and never issued, because their tick was over. */
  readonly dropped: number;
  /** How often IDs were reserved: a block, a part of a bulk call, or one ID by itself. */
  readonly reservations: number;
  /** How often the clock was read again before a refusal. */
  readonly rechecks: number;
  /** How often no ID could be issued at once. */
  readonly stalls: number;
  /** Milliseconds that calls have waited: by a clock for asynchronous calls, and what was asked for by those that block. */
  readonly waitedMs: number;
  // In each thread, generators of one copy of the package with the same layout, node id and lead share the following counts.
  /** How often a reading of the clock was earlier than the one before it. */
  readonly stepsBack: number;
  /** The largest of these steps back, in milliseconds. */
  readonly largestStepBackMs: number;
  /** How often the clock went back and minting went on under another clock id. */
  readonly switches: number;
  /** The furthest that an ID was ahead of the clock, in milliseconds. */
  readonly worstLeadMs: number;
  /** How many calls first had to raise the ceiling of a state file, and waited for the disk. */
  readonly extensions: number;
}

/** Whether an ID can be issued now. */
export type Readiness =
  | {
      /** Whether `next()` would return an ID at once. */
      readonly ok: true;
      readonly refusal: undefined;
    }
  | {
      readonly ok: false;
      /** The error that `next()` would throw if it did not wait. */
      readonly refusal: FrazilError;
    };

/** The present state of a generator. If it is not `ok`, it has a `refusal`. */
export type Health = Readiness & Condition;

/** The state of a generator whether or not an ID can be issued now. */
export interface Condition {
  /** How far the current tick is ahead of the clock, in milliseconds. */
  readonly leadMs: number;
  /** When the time field of the layout runs out. */
  readonly endsAt: Date;
  /** Milliseconds until `endsAt`; 0 after it, and after `close()`. */
  readonly remainingMs: number;
  /**
   * Problems to fix even while IDs are issued, such as a time field that ends within a year, an untrusted clock, or a node id on Cloudflare
   * Workers without a lease.
   */
  readonly warnings: readonly string[];
  /** The state file, for a generator of `Snowflake.local()`. */
  readonly file?: StateFile;
}

/** The counters that the core keeps. @internal */
export type CoreCounts = Pick<Stats, "stepsBack" | "largestStepBackMs" | "switches" | "worstLeadMs" | "extensions">;

/** Reads the counters of the core; zeros if there is no backend. @internal */
export function readCounts(port: Port | undefined, handle: number): CoreCounts {
  // The counters do not depend on the time that is passed.
  port?.binding.calls.health(port.binding.frame, handle, 0);
  const count = (at: Slot) => port?.numbers[at] ?? 0;
  return {
    stepsBack: count(Slot.STEPS_BACK),
    largestStepBackMs: count(Slot.LARGEST_STEP_BACK_MS),
    switches: count(Slot.SWITCHES),
    worstLeadMs: count(Slot.WORST_LEAD_MS),
    extensions: count(Slot.EXTENSIONS),
  };
}

/** Whether this is a Cloudflare Worker with the entry for browsers, chosen by a bundler. */
const isInWorker = (): boolean => globalThis.navigator?.userAgent === "Cloudflare-Workers";

/** Whether this runs in a browser page or one of its workers. A user has several, and they share nothing. */
const isInPage = (): boolean => "document" in globalThis || "importScripts" in globalThis || isInWorker();

/** The kind of process, if several are started with the same environment variables. */
function copiesHere(): string | undefined {
  try {
    // Both have a channel to their parent process. Others do not load the module.
    if (process.connected !== true) return undefined;
    if ((process.getBuiltinModule("node:cluster") as unknown as { readonly isWorker: boolean }).isWorker)
      return "the workers of node:cluster";
    const { pm_id: isOfPm2, instances = "1" } = process.env;
    return isOfPm2 !== undefined && instances !== "1" ? "the instances of pm2" : undefined;
  } catch {
    // Node 21 and 22.0 to 22.2 have no `getBuiltinModule`.
    return undefined;
  }
}

const isolateWarning = (node: number | "none"): string =>
  `node is ${node}: isolates share nothing, so each one with it repeats the IDs of the others. Use leased() or, in a Durable Object, durable() of frazil/workers. Or pass unshared: true if no other isolate has it.`;

function pageWarning(node: number | "none"): string | undefined {
  if (!isInPage()) return undefined;
  if (isInWorker()) return isolateWarning(node);
  return `node is ${node} in a page: tabs and workers with one node id repeat each other's IDs. Mint on your server, or give each tab its own node id and pass unshared: true.`;
}

const edgeWarning = (node: number | "none"): string =>
  `node is ${node} in an edge route: it shares nothing with the server and with other edge routes, and each one with it repeats the IDs of the others. Mint in a route that runs on Node, or pass unshared: true if nothing else has it.`;

function copiesWarning(node: number | "none"): string | undefined {
  const copies = copiesHere();
  return (
    copies &&
    `node is ${node} in one of ${copies}, which repeat each other's IDs if they have one node id\nUse Snowflake.local(), or give each its own node id and pass unshared: true.`
  );
}

/**
 * The problem with a static node id if the program is known to run in several places that share nothing. What to do comes after a line
 * break in Node, because a process warning has it as `detail`. @internal
 */
export const staticNodeWarning = (node: number | "none"): string | undefined =>
  Host.FILES
    ? copiesWarning(node)
    : Host.PAGES
      ? pageWarning(node)
      : Host.ISOLATES
        ? isolateWarning(node)
        : edgeWarning(node);

/** Whether a call would wait for a process that is raising the ceiling of the state file and does not finish. @internal */
export const isObstructed = ({ binding: { calls, frame } }: Port, handle: number, now: number): boolean =>
  CODES[calls.health(frame, handle, numberOrNaN(now))] === "LEASE_EXPIRED";

/** The state of a closed generator, without asking the core or the clock. @internal */
export const closedHealth = (refusal: FrazilError, { lastDate }: Plan, tickMs: number): Health => ({
  ok: false,
  refusal,
  leadMs: 0,
  endsAt: new Date(lastDate.getTime() + tickMs - 1),
  remainingMs: 0,
  warnings: [],
});

/**
 * The state of a generator at a time. `staticNode`: its node id, if only the program keeps others from using it.
 *
 * @internal
 */
export function readHealth(
  port: Port,
  handle: number,
  now: number,
  isLocal: boolean,
  staticNode: number | "none" | undefined,
  layout: Layout,
  isForgotten: boolean,
): Health {
  const { calls, frame, files } = port.binding;
  const status = calls.health(frame, handle, numberOrNaN(now));
  // All slots are read first: later steps may run user code, which could write into the frame.
  const { numbers } = port;
  const endMs = numbers[Slot.END_MS] as number;
  const leadMs = numbers[Slot.LEAD_MS] as number;
  const remainingMs = numbers[Slot.REMAINING_MS] as number;
  const endsSoon = numbers[Slot.ENDS_SOON] as number;
  const refusal = status === 0 ? undefined : port.error(status, now, undefined, undefined, layout, isForgotten);
  if (refusal?.code === "INVALID_CLOCK") throw refusal;
  const file = Host.FILES && isLocal ? files?.file(port, handle) : undefined;
  const endsAt = new Date(endMs);
  const warnings = endsSoon ? [`the time field of the layout runs out on ${endsAt.toISOString()}`] : [];
  const wrong = staticNode === undefined ? undefined : staticNodeWarning(staticNode);
  if (wrong !== undefined) warnings.push(Host.FILES ? wrong.replace("\n", ". ") : wrong);
  // The compiler cannot see that there is a refusal exactly if the status is not 0.
  const health = { ok: status === 0, refusal, leadMs, endsAt, remainingMs, warnings } as Health;
  if (!Host.FILES || file === undefined) return health;
  const ahead = `the clock stepped ${file.distrustedMs} ms ahead, which is not followed until it has lasted 10 minutes`;
  if (file.distrustedMs > 0) warnings.push(ahead);
  if (file.blind)
    warnings.push("a directory above the state file may not be read, so a start waits 3 s. Let this user read it.");
  if (!file.locked) warnings.push("the state is not locked in memory. Raise the limit (ulimit -l, LimitMEMLOCK).");
  return { ...health, file };
}
