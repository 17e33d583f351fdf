/**
 * The line of a generator on the native addon: numbers of the core, and the memory of a state that threads and processes share. See
 * `crates/core/src/abi/line.rs`. Nothing here runs user code, which could reach that memory.
 */
import { Host } from "#binding";
import { Doubles, Halves, Ids } from "../base/arrays.js";
import { LinePart } from "../core/boundary.js";
import type { Port } from "../core/port.js";

/** Captured at load: a replacement by the program would get the memory. */
const swap = Host.FILES ? Atomics.compareExchange : (undefined as never);
const load = Host.FILES ? Atomics.load : (undefined as never);
const toNumber = Number;
export const floor = /* @__PURE__ */ (() => Math.floor)();

/** A number of 64 bits, and its halves. */
const eight = /* @__PURE__ */ new ArrayBuffer(8);
const whole = /* @__PURE__ */ new Ids(eight);
const halves = /* @__PURE__ */ new Halves(eight);

/** The constants of the generator's current state, and the last reading of its window. */
export interface SwapLine {
  readonly epochMs: number;
  readonly tickMs: number;
  /** The end of the last tick. */
  readonly endMs: number;
  readonly wordStep: number;
  readonly idStep: number;
  readonly nodeLow: number;
  readonly nodeHigh: number;
  /** The last reading of the clock, here or in a call of the core. */
  readonly seenMs: Float64Array;
  readonly word: BigUint64Array;
  readonly window: BigUint64Array;
  from: bigint;
  until: bigint;
  fromMs: number;
  /** The end of the window, or of the time field. */
  untilMs: number;
}

/** The lines of shared handles, which are never released. */
export const sharedLines: Record<number, SwapLine> = /* @__PURE__ */ Object.create(null);

/** The line of a handle; `undefined` if there is none, or if the host gives JavaScript no foreign memory. */
export function swapLineOf(
  { binding: { frame, lines } }: Port,
  handle: number,
  isShared: boolean,
): SwapLine | undefined {
  // Not as a list: the program can replace its methods and iterator.
  const slots = lines?.lineMemory(frame, handle, LinePart.SLOTS);
  const word = lines?.lineMemory(frame, handle, LinePart.WORD);
  const window = lines?.lineMemory(frame, handle, LinePart.WINDOW);
  if (!slots || !word || !window) return undefined;
  const numbers = new Doubles(slots);
  const at = (place: number) => numbers[place] as number;
  const line = {
    epochMs: at(0),
    tickMs: at(1),
    endMs: at(2),
    wordStep: at(3),
    idStep: at(4),
    nodeLow: at(5),
    nodeHigh: at(6),
    seenMs: new Doubles(slots, 8 * 8),
    word: new Ids(word),
    window: new Ids(window),
    from: 0n,
    until: 0n,
    fromMs: 0,
    untilMs: 0,
  };
  readWindow(line);
  if (isShared) sharedLines[handle] = line;
  return line;
}

/** Reads the window again: another generator, thread or process, or a store's answer, may have moved it. */
export function readWindow(line: SwapLine): void {
  line.from = load(line.window, 0);
  line.until = load(line.window, 1);
  line.fromMs = toNumber(line.from);
  const untilMs = toNumber(line.until);
  line.untilMs = untilMs < line.endMs ? untilMs : line.endMs;
}

/**
 * The first ID of a tick, without a call of the core: the rule is in `crates/core/src/mint/line.rs`. Threads and processes share the word,
 * so it is swapped. `undefined` if the line has no answer, or if the swap was lost.
 */
export function swapOne(line: SwapLine, now: number): bigint | undefined {
  const { seenMs, word, window } = line;
  const tick = floor((now - line.epochMs) / line.tickMs);
  const startMs = line.epochMs + tick * line.tickMs;
  const before = word[0] as bigint;
  const first = tick * line.wordStep;
  whole[0] = before;
  // Each comparison is false for anything but a number. If the clock went back, the core is called and counts it.
  const isDue =
    startMs <= now &&
    (seenMs[0] as number) <= now &&
    line.fromMs <= startMs &&
    startMs + line.tickMs <= line.untilMs &&
    // Even if rounded, a word as large as the first one of the tick is not smaller.
    (halves[1] as number) * 2 ** 32 + (halves[0] as number) < first;
  if (!isDue) return undefined;
  // Stored values are taken modulo 2^32. The first word of a tick is even.
  halves[0] = first | 1;
  halves[1] = first / 2 ** 32;
  // The window again: if the state file has begun anew or was overwritten, this ID belongs to someone else.
  if (
    swap(word, 0, before, whole[0] as bigint) !== before ||
    load(window, 0) !== line.from ||
    load(window, 1) < line.until
  )
    return undefined;
  seenMs[0] = now;
  const time = tick * line.idStep;
  halves[0] = time | line.nodeLow;
  halves[1] = (time / 2 ** 32) | line.nodeHigh;
  return whole[0] as bigint;
}
