/** The rows that the statements of a store answer with, read as answers. */
import { saidOf } from "../../base/errors.js";
import type { Answer, RefusalReason } from "../lease-store.js";
import { storeRefused } from "./errors.js";

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
    throw storeRefused(saidOf(field, "must be an integer up to 2^53 - 1", String(value)));
  return number as number;
}

/** Whether a driver returned a whole number: a bigint, digits or an exact number. */
export const isWholeColumn = (value: unknown): value is bigint | number | string =>
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
