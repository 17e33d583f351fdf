/**
 * Requests to the core: what is written into the page before a call, and the error of a request to open that was
 * refused.
 */
import { Host } from "#binding";
import { processStartMs } from "./clock.js";
import { configError, type FrazilError } from "./errors.js";
import { KINDS, Slot, STARTS } from "./generated/page.js";
import { Rule } from "./generated/rules.js";
import type { Layout } from "./layout.js";
import type { SequenceStart } from "./options.js";
import type { Port } from "./port.js";

/** A value for a slot. A value that is not a number becomes NaN, which the core refuses by the rule for numbers. */
export const numberOrNaN = (value: unknown): number => (typeof value === "number" ? value : NaN);

/** A request to open a generator, as pairs for the page: a slot, then its number, and so on. */
export function openRequest(
  layout: Layout,
  given: Record<string, unknown>,
  node: unknown,
  isPrivate: boolean,
): (number | boolean)[] {
  const { epochMs, tickMs, unsigned, fields } = layout;
  const { maxLeadMs, maxWaitMs, maxAsyncWaitMs, sequenceStart = "zero" } = given;
  const pairs: (number | boolean)[] = [
    Slot.EPOCH_MS,
    epochMs,
    Slot.TICK_MS,
    tickMs,
    Slot.UNSIGNED,
    unsigned,
    Slot.HAS_NODE,
    node !== undefined,
    Slot.NODE,
    numberOrNaN(node),
    Slot.NODE_NONE,
    node === "none",
    Slot.START_MS,
    // An isolate of Cloudflare Workers has no start time: its `timeOrigin` is 0.
    Host.ISOLATES || isPrivate ? NaN : processStartMs(),
    Slot.PRIVATE,
    isPrivate,
    Slot.HAS_MAX_LEAD_MS,
    maxLeadMs !== undefined,
    Slot.MAX_LEAD_MS,
    numberOrNaN(maxLeadMs),
    Slot.HAS_MAX_WAIT_MS,
    maxWaitMs !== undefined,
    Slot.MAX_WAIT_MS,
    numberOrNaN(maxWaitMs),
    Slot.HAS_MAX_ASYNC_WAIT_MS,
    maxAsyncWaitMs !== undefined,
    Slot.MAX_ASYNC_WAIT_MS,
    numberOrNaN(maxAsyncWaitMs),
    Slot.SEQUENCE_START,
    STARTS.indexOf(sequenceStart as SequenceStart),
    Slot.FIELD_COUNT,
    fields.length,
  ];
  if (Host.FILES) pairs.push(Slot.UNSHARED, given["unshared"] === true);
  fields.forEach(({ kind, bits }, at) => {
    pairs.push(Slot.FIELDS + 2 * at, KINDS.indexOf(kind), Slot.FIELDS + 2 * at + 1, bits);
  });
  return pairs;
}

/** Writes a request into the page, where a boolean becomes 0 or 1. */
export function writeRequest({ numbers }: Port, request: readonly (number | boolean)[]): void {
  for (let at = 0; at < request.length; at += 2) numbers[request[at] as Slot] = request[at + 1] as number;
}

/** The error of a request to open that was refused, with the value that the caller gave. */
export function openRefusal(port: Port, status: number, given: Record<string, unknown>): FrazilError {
  const value = given[port.subject];
  const error = port.error(status, value);
  // Such as the value of an environment variable.
  const isText = typeof value === "string" && value !== "none";
  const hint = error.code === "INVALID_NODE" && isText && error.rule !== Rule.NODE_NONE ? ", not text: Number(…)" : "";
  return hint ? configError(error.code, error.field as string, value, `${error.rule}${hint}`) : error;
}

/** Writes a new random key for the start of the sequence into the page. */
export function writeNewKey(port: Port): void {
  const words = crypto.getRandomValues(new Uint32Array(4));
  const { numbers } = port;
  // Not 0: a key of zeros means that there is no key, and a replaced random source may return only zeros.
  for (let at = 0; at < 4; at++) numbers[Slot.KEY + at] = words[at] || 1;
  numbers[Slot.HAS_KEY] = 1;
}
