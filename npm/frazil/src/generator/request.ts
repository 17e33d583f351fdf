/**
 * Requests to the core: the writes into the frame before a call, and the error if a request to open is refused.
 */
import { Host } from "#binding";
import { monotonicClock, processStartMs, wallClock } from "../base/clock.js";
import { ClockError, type ErrorCode, type FrazilError, factOf, withoutRule } from "../base/errors.js";
import { placeOf, putOwn } from "../base/own-properties.js";
import { hostRandom } from "../core/host-random.js";
import type { Port } from "../core/port.js";
import { CODES, KINDS, Slot, STARTS } from "../generated/abi.js";
import { Rule } from "../generated/rules.js";
import { localNode, nodeGiven } from "../layout/default-nodes.js";
import type { Layout, LayoutField } from "../layout/index.js";

/** A value for a slot. A value that is not a number becomes NaN, which the core refuses by the rule for numbers. */
export const numberOrNaN = (value: unknown): number => (typeof value === "number" ? value : NaN);

/**
 * Epochs that were in the future when a generator was made with them. Once reached, they lie within the time of the process, and other
 * generators may still use them. A program that invents one for each generator does not fill the memory.
 */
const futureEpochs = /* @__PURE__ */ new Set<number>();
const MAX_FUTURE_EPOCHS = 1000;

/** A request to open a generator, as pairs for the frame: a slot, then its number, and so on. */
export function openRequest(
  layout: Layout,
  given: Record<string, unknown>,
  node: unknown,
  isPrivate: boolean,
): (number | boolean)[] {
  const { epochMs, tickMs, unsigned, fields } = layout;
  const { maxLeadMs, maxWaitMs, maxAsyncWaitMs, sequenceStart = "zero", layout: source = "" } = given;
  // An isolate of Cloudflare Workers has no start time: its `timeOrigin` is 0.
  const startMs = Host.ISOLATES || isPrivate ? NaN : processStartMs();
  // The core refuses an epoch that the program took from its clock. The epoch of a built-in layout is a constant, and is not compared.
  const isConstant =
    isPrivate || futureEpochs.has(epochMs) || (given["epochMs"] === undefined && typeof source === "string");
  const nowMs = isConstant ? NaN : numberOrNaN(wallClock());
  if (epochMs > nowMs && futureEpochs.size < MAX_FUTURE_EPOCHS) futureEpochs.add(epochMs);
  // The clock may have been set since the start (in 1970 on a machine without a battery), so the age comes from the monotonic clock. If the
  // start is unknown, this call is its upper bound.
  const fromMs = Math.floor(nowMs - (startMs ? monotonicClock() : 0)) || nowMs;
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
    startMs,
    Slot.PROCESS_FROM_MS,
    fromMs,
    Slot.PROCESS_UNTIL_MS,
    nowMs + 1,
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
    placeOf(STARTS, sequenceStart),
    Slot.UNSHARED,
    Host.FILES && given["unshared"] === true,
    Slot.FIELD_COUNT,
    fields.length,
  ];
  const put = (value: number) => putOwn(pairs, pairs.length, value);
  // Without methods or spread: a program could have replaced one, and it could leave out a field. Then the field of the last request would
  // count.
  for (let at = 0; at < fields.length; at++) {
    const { kind, bits } = fields[at] as LayoutField;
    put(Slot.FIELDS + 2 * at);
    put(placeOf(KINDS, kind));
    put(Slot.FIELDS + 2 * at + 1);
    put(bits);
  }
  return pairs;
}

/** Writes a request into the frame, where a boolean becomes 0 or 1. */
export function writeRequest({ numbers }: Port, request: readonly (number | boolean)[]): void {
  for (let at = 0; at < request.length; at += 2) numbers[request[at] as Slot] = request[at + 1] as number;
}

/** The value that a refusal is about. An option that was left out has its default. */
function valueAtFault(field: string, code: ErrorCode, given: Record<string, unknown>, layout: Layout): unknown {
  // It can come from the layout, or be a `Date`.
  if (field === "epochMs") return layout.epochMs;
  const value = given[field];
  if (value !== undefined || code !== "STATE_CONFLICT") return value;
  if (field === "sequenceStart") return STARTS[0];
  // Only for `local()`: elsewhere a node id is required.
  if (field !== "node") return value;
  return layout.fields.some(({ kind }) => kind === "node") ? localNode(layout.plan().nodes) : "none";
}

/** The hint for a node id from an environment variable, the usual source. */
function variableHint(code: ErrorCode, value: unknown): string {
  if (code === "NODE_REQUIRED") return "Is the environment variable set?";
  if (code !== "INVALID_NODE" || value === "none") return "";
  if (Number.isNaN(value)) return "Is the environment variable set? Number(undefined) is NaN.";
  if (typeof nodeGiven(value) === "number") return "Count from 0. A layout with more node bits needs another column.";
  if (typeof value !== "string") return typeHint(value);
  return value === ""
    ? "Is the environment variable empty?"
    : `A string must have decimal digits only.${Host.FILES ? " Of a pod: lease(store, { node: preferredNode() })." : ""}`;
}

/** The hint for a value of another type where a number is required. */
const typeHint = (value: unknown): string =>
  typeof value === "string" || typeof value === "bigint" ? `Pass a number, not a ${typeof value}.` : "";

/** The same error with this before its hint. */
function withHint(error: FrazilError, hint: string): FrazilError {
  if (hint) (error as { hint?: string }).hint = `${hint} ${error.hint ?? ""}`.trim();
  return error;
}

/** The hint for an array that one call does not fill. */
export const TOO_LONG = "count is target.length: fill it in parts, await fillAsync(target.subarray(from, until)).";

/** The error for an argument that must be a number: its hint says if it is text or a `bigint`, unless there is another one. */
export const numberRefusal = (error: FrazilError, hint = typeHint(error.value)): FrazilError => withHint(error, hint);

/** The error of a request to open with a node id that was refused: its hint says what to do. */
export function nodeRefusal(error: FrazilError): FrazilError {
  const { code, field, value, rule } = error;
  return field !== "node" || rule === factOf(Rule.NODE_NONE) ? error : withHint(error, variableHint(code, value));
}

/** The error of a request to open that was refused, with the value that the caller gave. */
export function openRefusal(port: Port, status: number, given: Record<string, unknown>, layout: Layout): FrazilError {
  const code = CODES[status] as ErrorCode;
  const { subject } = port;
  // Only for state files: elsewhere the clock is read when IDs are minted.
  const isClock = Host.FILES && code === "CLOCK_BEFORE_EPOCH";
  const error = port.error(
    status,
    isClock ? wallClock() : valueAtFault(subject, code, given, layout),
    undefined,
    undefined,
    isClock ? layout : undefined,
  );
  if (Host.FILES && code === "CLOCK_BACKWARD") {
    const said =
      "opening the state file must wait until all that its earlier users can have issued is over\n" +
      "Or raise startWaitMs: await Snowflake.localAsync() waits without blocking the event loop.";
    return withoutRule(ClockError, code, said, true, error.retryAfterMs as number);
  }
  return "node" in given || code !== "NODE_REQUIRED" ? nodeRefusal(error) : error;
}

/** Writes a new random key for the start of the sequence into the frame. */
export function writeNewKey(port: Port): void {
  const words = hostRandom(4);
  const { numbers } = port;
  // Not 0: a key of zeros means that there is no key, and a replaced random source may return only zeros.
  for (let at = 0; at < 4; at++) numbers[Slot.KEY + at] = words[at] || 1;
  numbers[Slot.HAS_KEY] = 1;
}
