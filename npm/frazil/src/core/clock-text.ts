/** Further text for refusals about the clock: the times that differ. */
import { Host } from "#binding";
import { isFaked } from "../base/clock.js";
import type { ErrorCode } from "../base/errors.js";
import { SECONDS_END, SECONDS_START } from "../generated/layouts.js";
import type { Layout } from "../layout/index.js";

/** The difference from which two clocks disagree: no lead, start or full sequence takes that long. */
export const LONG_WAIT_MS = 2000;

/** The remedy in a test. */
const IN_TESTS = "In tests, use the option now or frazil/testing";

/** A time as a date, or as a number if no date has it. */
function timeText(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms}` : date.toISOString();
}

/** The text of a refusal by `Snowflake.local()` while its clock is `aheadMs` ahead of the time by which it mints. */
export const distrustText = (nowMs: number, aheadMs: number): string =>
  `the clock shows ${timeText(nowMs)}, and the time that is trusted is ${timeText(nowMs - aheadMs)}\nA step of the clock is followed once it lasts 10 minutes.`;

/**
 * The actual and the required time of the clock, with a hint; empty for other refusals and short waits. `isForgotten`: whether no file or
 * store remembers the IDs after the process exits. `stoodMs`: how long the call has waited with the clock standing still.
 */
export function clockText(
  code: ErrorCode,
  nowMs: unknown,
  retryAfterMs: number,
  layout: Layout,
  isForgotten: boolean,
  stoodMs: number,
): string {
  if (typeof nowMs !== "number") return "";
  const shows = `the clock shows ${timeText(nowMs)}`;
  if (code === "CLOCK_BEFORE_EPOCH") {
    const isInSeconds = nowMs >= SECONDS_START && nowMs < SECONDS_END;
    const hint = isInSeconds
      ? "Is it in seconds? Return Unix milliseconds."
      : `Set the clock. For another column, pass an earlier epochMs. In Workers, mint in a request. ${IN_TESTS}.`;
    return `${shows}, before the epoch of the layout, ${timeText(layout.epochMs)}\n${hint}`;
  }
  if (code === "TIME_EXHAUSTED")
    return `${shows}, after the last date of the layout, ${timeText(layout.plan().lastDate.getTime())}\nFor another column only: pass another layout, or a later epochMs.`;
  if (Host.BLOCKS && stoodMs > 0)
    return `the clock still shows ${timeText(nowMs)} after a wait of ${stoodMs} ms\nIs the clock frozen or faked? ${IN_TESTS}, or advance the clock.`;
  if (code === "CLOCK_BACKWARD" && retryAfterMs < LONG_WAIT_MS && isFaked())
    return `${shows}, and was replaced, as by fake timers\n${IN_TESTS}, or advance the clock.`;
  if (code !== "CLOCK_BACKWARD" || retryAfterMs < LONG_WAIT_MS) return "";
  const rest = isForgotten ? " Otherwise wait, or use another node id: a restart with this one can repeat IDs." : "";
  return `${shows}, and the next ID is due at ${timeText(nowMs + retryAfterMs)}\nWas the clock ahead, or faked by a test? ${IN_TESTS}.${rest}`;
}
