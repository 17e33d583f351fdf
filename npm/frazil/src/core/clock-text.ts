/** What refusals that are about the clock say besides: the times that differ. */
import { Host } from "#binding";
import { isFaked } from "../base/clock.js";
import type { ErrorCode } from "../base/errors.js";
import { SECONDS_END, SECONDS_START } from "../generated/layouts.js";
import type { Layout } from "../layout/index.js";

/** From how many milliseconds on nobody waits: two clocks differ. */
export const LONG_WAIT_MS = 3_600_000;

/** What a test does about its clock. */
const IN_TESTS = "In tests, use the option now or frazil/testing (docs/guides/testing.md)";

/** A time as a date, or as the number that it is if no date has it. */
function timeText(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms}` : date.toISOString();
}

/** What a refusal of `Snowflake.local()` says while its clock is `aheadMs` ahead of the time by which it mints. */
export const distrustText = (nowMs: number, aheadMs: number): string =>
  `: the clock shows ${timeText(nowMs)}, and the time that is trusted is ${timeText(nowMs - aheadMs)}. A step of the clock is followed once it has lasted 10 minutes.`;

/**
 * What the clock shows, and what it would have to show; empty for other refusals, and for short waits. `isForgotten`: whether neither a
 * file nor a store knows of the IDs after the process has ended. `stoodMs`: how long the call has waited, and the clock has shown the same.
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
  const shows = `shows ${timeText(nowMs)}, and the`;
  if (code === "CLOCK_BEFORE_EPOCH" && nowMs >= SECONDS_START && nowMs < SECONDS_END)
    return ` It ${shows} epoch is ${timeText(layout.epochMs)}: is it in seconds?`;
  if (code === "CLOCK_BEFORE_EPOCH")
    return ` It ${shows} epoch is ${timeText(layout.epochMs)}: set the clock, or pass an earlier epochMs. In Workers, mint in a request. ${IN_TESTS}.`;
  if (code === "TIME_EXHAUSTED")
    return ` The clock ${shows} last date of the layout is ${timeText(layout.plan().lastDate.getTime())}: pass another layout, or a later epochMs if it has no IDs yet.`;
  if (Host.BLOCKS && stoodMs > 0 && retryAfterMs < LONG_WAIT_MS)
    return `: the clock still shows ${timeText(nowMs)} after a wait of ${stoodMs} ms, as one does that is frozen or faked. ${IN_TESTS}, or move it on.`;
  if (code === "CLOCK_BACKWARD" && retryAfterMs < LONG_WAIT_MS && isFaked())
    return `: the clock was replaced, as by fake timers, and shows ${timeText(nowMs)}. ${IN_TESTS}, or move it on.`;
  if (code !== "CLOCK_BACKWARD" || retryAfterMs < LONG_WAIT_MS) return "";
  const rest = isForgotten ? ". Otherwise wait, or use another node id: a restart with this one can repeat IDs." : ".";
  return `: the clock ${shows} next ID is due at ${timeText(nowMs + retryAfterMs)}, since the clock was ahead, or faked by a test. ${IN_TESTS}${rest}`;
}
