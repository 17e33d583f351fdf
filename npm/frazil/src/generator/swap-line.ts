/**
 * The line of a generator on the native addon: numbers of the core, and the memory of a state that threads and processes share. See
 * `crates/core/src/abi/line.rs`. Nothing here runs code of the program: it could reach that memory.
 */
import { Host } from "#binding";
import { Doubles, Halves, Ids } from "../base/arrays.js";
import { LinePart } from "../core/boundary.js";
import type { Port } from "../core/port.js";

/** Captured at load: what a program puts in their place would get the memory. */
const swap = Host.FILES ? Atomics.compareExchange : (undefined as never);
const load = Host.FILES ? Atomics.load : (undefined as never);
const toNumber = Number;
export const floor = /* @__PURE__ */ (() => Math.floor)();

/** A number of 64 bits, and its halves. */
const eight = /* @__PURE__ */ new ArrayBuffer(8);
const whole = /* @__PURE__ */ new Ids(eight);
const halves = /* @__PURE__ */ new Halves(eight);

/** What is constant as long as the state is the generator's, and its window as it was read last. */
export interface SwapLine {
  readonly epochMs: number;
  readonly tickMs: number;
  /** The end of the last tick. */
  readonly endMs: number;
  readonly wordStep: number;
  readonly idStep: number;
  readonly nodeLow: number;
  readonly nodeHigh: number;
  /** What the clock showed last, here or in a call of the core. */
  readonly seenMs: Float64Array;
  readonly word: BigUint64Array;
  readonly window: BigUint64Array;
  from: bigint;
  until: bigint;
  fromMs: number;
  /** The end of the window, or of the time field. */
  untilMs: number;
}

/** The lines of handles that generators share, which are never released. */
export const sharedLines: Record<number, SwapLine> = /* @__PURE__ */ Object.create(null);

/** The line of a handle; `undefined` if there is none, or if the host gives JavaScript no memory of others. */
export function swapLineOf(
  { binding: { frame, lines } }: Port,
  handle: number,
  isShared: boolean,
): SwapLine | undefined {
  // Not by a list: its methods and iterator are the program's.
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

/** Reads the window again: another generator, thread or process, or the answer of a store, may have moved it. */
export function readWindow(line: SwapLine): void {
  line.from = load(line.window, 0);
  line.until = load(line.window, 1);
  line.fromMs = toNumber(line.from);
  const untilMs = toNumber(line.until);
  line.untilMs = untilMs < line.endMs ? untilMs : line.endMs;
}

/**
 * One ID in a tick of which the state has issued none, without a call of the core: the rule is `crates/core/src/mint/line.rs`. Threads and
 * processes have the word as well, so it is swapped. `undefined` where the line has no answer, or another one was faster.
 */
export function swapOne(line: SwapLine, now: number): bigint | undefined {
  const { seenMs, word, window } = line;
  const tick = floor((now - line.epochMs) / line.tickMs);
  const startMs = line.epochMs + tick * line.tickMs;
  const before = word[0] as bigint;
  const first = tick * line.wordStep;
  whole[0] = before;
  // Each comparison is false for what is no number. If the clock went back, the core is called, which counts it.
  const isDue =
    startMs <= now &&
    (seenMs[0] as number) <= now &&
    line.fromMs <= startMs &&
    startMs + line.tickMs <= line.untilMs &&
    // Rounded, a word that is as large as the first one of the tick is not smaller.
    (halves[1] as number) * 2 ** 32 + (halves[0] as number) < first;
  if (!isDue) return undefined;
  // What is stored is taken modulo 2^32. The first word of a tick is even.
  halves[0] = first | 1;
  halves[1] = first / 2 ** 32;
  // The window once more: a state file may have begun anew, or be overwritten, and then this ID is another one's.
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
