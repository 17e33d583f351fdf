/** How a generator stands: what it counted, and whether it can issue. */
import { Host } from "#binding";
import type { Backend } from "./boundary.js";
import type { FrazilError } from "./errors.js";
import type { StateFile } from "./files.js";
import { Slot } from "./generated/page.js";
import type { Port } from "./port.js";
import { numberOrNaN } from "./request.js";

/** What a generator has done so far. */
export interface Stats {
  readonly backend: Backend;
  /** IDs handed out. */
  readonly issued: number;
  /** IDs reserved ahead and never handed out, because their tick was over. */
  readonly dropped: number;
  /** Calls into the core that gave IDs. */
  readonly reservations: number;
  /** Times the clock was read once more before a refusal. */
  readonly rechecks: number;
  /** Times nothing could be issued at once. */
  readonly stalls: number;
  /** Milliseconds that calls meant to wait. */
  readonly waitedMs: number;
  // Of these, generators of one copy of the package in a thread with equal layout, node id and lead have one count.
  /** Times the clock was seen before its last reading. */
  readonly stepsBack: number;
  /** The largest of these steps, in milliseconds. */
  readonly largestStepBackMs: number;
  /** Times the clock was followed back, to another clock id. */
  readonly switches: number;
  /** The furthest that an ID lay ahead of the clock, in milliseconds. */
  readonly worstLeadMs: number;
  /** Calls that had to raise the ceiling of a state file first, and so waited for the disk. */
  readonly extensions: number;
}

/** How a generator stands now. */
export interface Health {
  /** Whether `next()` would give an ID at once. */
  readonly ok: boolean;
  /** What `next()` would be refused with, without waiting. */
  readonly refusal: FrazilError | undefined;
  /** How far the current tick lies ahead of the clock, in milliseconds. */
  readonly leadMs: number;
  /** When the time field of the layout runs out. */
  readonly endsAt: Date;
  /** How long until then, in milliseconds; 0 once it is over. */
  readonly remainingMs: number;
  /** What should be looked at although IDs are issued: a time field that runs out within a year, a clock that is not believed. */
  readonly warnings: readonly string[];
  /** The state file, of a `Snowflake.local()`. */
  readonly file?: StateFile;
}

/** What the core counts. @internal */
export type CoreCounts = Pick<Stats, "stepsBack" | "largestStepBackMs" | "switches" | "worstLeadMs" | "extensions">;

/** What the core has counted; nothing where there is none. @internal */
export function readCounts(port: Port | undefined, handle: number): CoreCounts {
  // The counts depend on no time.
  port?.binding.calls.health(port.binding.page, handle, 0);
  const count = (at: Slot) => port?.numbers[at] ?? 0;
  return {
    stepsBack: count(Slot.STEPS_BACK),
    largestStepBackMs: count(Slot.LARGEST_STEP_BACK_MS),
    switches: count(Slot.SWITCHES),
    worstLeadMs: count(Slot.WORST_LEAD_MS),
    extensions: count(Slot.EXTENSIONS),
  };
}

/** How a generator stands at a time. @internal */
export function readHealth(port: Port, handle: number, now: number, isLocal: boolean): Health {
  const { calls, page, files } = port.binding;
  const status = calls.health(page, handle, numberOrNaN(now));
  // Read at once: what follows may run user code, which could write into the page too.
  const { numbers } = port;
  const endMs = numbers[Slot.END_MS] as number;
  const leadMs = numbers[Slot.LEAD_MS] as number;
  const remainingMs = numbers[Slot.REMAINING_MS] as number;
  const endsSoon = numbers[Slot.ENDS_SOON] as number;
  const refusal = status === 0 ? undefined : port.error(status, now);
  if (refusal?.code === "INVALID_CLOCK") throw refusal;
  const file = Host.FILES && isLocal ? files?.file(port, handle) : undefined;
  const endsAt = new Date(endMs);
  const warnings = endsSoon ? [`the time field of the layout runs out on ${endsAt.toISOString()}`] : [];
  const health = { ok: status === 0, refusal, leadMs, endsAt, remainingMs, warnings };
  if (!Host.FILES || file === undefined) return health;
  const ahead = `the clock stepped ${file.distrustedMs} ms ahead, which is not followed until it has lasted 10 minutes`;
  if (file.distrustedMs > 0) warnings.push(ahead);
  if (file.blind)
    warnings.push(
      "a directory above the state file may not be read, so a start waits 3 s: let this user read it, or pass another dir",
    );
  if (!file.locked) warnings.push("the state is not locked in memory: raise the limit (ulimit -l, LimitMEMLOCK)");
  return { ...health, file };
}
