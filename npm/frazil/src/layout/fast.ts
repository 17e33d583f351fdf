/**
 * Reads IDs for `Layout` in Node and Bun: the same as elsewhere, with special loops for many IDs at once.
 */
import { halves, LOW, type Span, word } from "./bits.js";
import type { Arrays, NamedParts, PartsKept, Shape } from "./shape.js";

/** Whether these functions are used. See `small.ts`. */
export enum Decoding {
  FAST = 1,
}

/** Whether a value is a `bigint` that is an ID of the layout. Unlike a comparison with the largest ID, this does not call the engine. */
export function isIdOf({ bits }: Shape, value: unknown): value is bigint {
  if (typeof value !== "bigint") return false;
  word[0] = value;
  // A negative or larger number changes there.
  if (word[0] !== value) return false;
  const high = halves[1 - LOW] as number;
  return (high === 0 ? 32 - Math.clz32(halves[LOW] as number) : 64 - Math.clz32(high)) <= bits;
}

/**
 * Constants to read one run of adjacent bits: `((high >>> highShift) & highMask) * scale + ((low >>> lowShift) & lowMask)`, without signs.
 * Shifts are modulo 32, and masks are 32-bit integers. `spanOf` has the same numbers but does not expose them: as a property of a span they
 * would add 20 bytes to a Worker's upload.
 */
function masksOf({ shift, max }: Span): [number, number, number, number, number] {
  const isHigh = shift > 31;
  const scale = isHigh ? 1 : Math.min(max + 1, 2 ** (32 - shift));
  return [isHigh ? shift : 0, ((max + 1) / scale - 1) | 0, scale, shift, (scale - 1) | 0];
}

/** The position of the first ID that has a bit of `span`, or -1. `halves` has the halves of the IDs. */
export function firstWith(span: Span, halves: Uint32Array): number {
  const [highShift, highMask, , lowShift, lowMask] = masksOf(span);
  const [low, high] = [LOW, 1 - LOW];
  const { length } = halves;
  let lows = 0;
  let highs = 0;
  // All of them at once, without a branch for each: hardly any program has such an ID. Four per step take half the time.
  let at = high;
  for (; at < length - 6; at += 8)
    highs |=
      (halves[at] as number) | (halves[at + 2] as number) | (halves[at + 4] as number) | (halves[at + 6] as number);
  for (; at < length; at += 2) highs |= halves[at] as number;
  if (lowMask !== 0) for (let at = low; at < length; at += 2) lows |= halves[at] as number;
  if ((((highs >>> highShift) & highMask) | ((lows >>> lowShift) & lowMask)) === 0) return -1;
  // A counted loop, not one until an ID is found: another thread can change the IDs in the meantime.
  for (let at = 0; at < length; at += 2) if (span.of(halves, at) > 0) return at / 2;
  return -1;
}

/** The lowest run of a span. */
const lowest = (span: Span): Span => span.runs?.[0] ?? span;

/** Writes the fields of IDs into arrays of the same length. */
export function readColumns(
  { time, node, clock, sequence, tickMs, epochMs }: Shape,
  halves: Uint32Array,
  into: Arrays,
): void {
  const { timestampMs, sequence: sequences } = into;
  const length = halves.length / 2;
  const nodes = into.node ?? new Uint32Array(length);
  const [t0, t1, t2, t3, t4] = masksOf(lowest(time));
  const [n0, n1, n2, n3, n4] = node ? masksOf(lowest(node)) : [0, 0, 1, 0, 0];
  const [, highMask, , s3, s4] = masksOf(lowest(sequence));
  const highMs = t2 * tickMs;
  const nodeShift = 31 - Math.clz32(n2);
  // One loop for the three fields that most layouts have: each half is read once. A node id has at most 32 bits, and a sequence usually
  // fewer, so they stay integers. Counting an index is faster than computing it from `at`.
  if (t0 === 0 && t1 !== 0 && n1 === 0) {
    // As in most layouts, the time has the low bits of the high half, and the node id is in the low half.
    for (let at = 0, half = LOW; at < length; at++, half += 2) {
      const low = halves[half] as number;
      const high = halves[half ^ 1] as number;
      timestampMs[at] = ((high & t1) >>> 0) * highMs + ((low >>> t3) * tickMs + epochMs);
      nodes[at] = (low >>> n3) & n4;
      sequences[at] = (low >>> s3) & s4;
    }
  } else {
    for (let at = 0, half = LOW; at < length; at++, half += 2) {
      const low = halves[half] as number;
      const high = halves[half ^ 1] as number;
      timestampMs[at] = (((high >>> t0) & t1) >>> 0) * highMs + ((((low >>> t3) & t4) >>> 0) * tickMs + epochMs);
      nodes[at] = (((high >>> n0) & n1) << nodeShift) | ((low >>> n3) & n4);
      sequences[at] = (low >>> s3) & s4;
    }
  }
  addRuns(time.runs, halves, timestampMs, tickMs);
  addRuns(node?.runs, halves, nodes, 1);
  // A sequence with bits in the high half, or with 32 bits (a sign), is read like the rare fields.
  if (highMask !== 0 || s4 < 0) readRuns(sequence, halves, sequences);
  else addRuns(sequence.runs, halves, sequences, 1);
  if (clock) readRuns(clock, halves, into.clock as Uint32Array);
}

/** Writes a column by all its runs. */
function readRuns(span: Span, halves: Uint32Array, into: Float64Array | Uint32Array): void {
  for (let at = 0; at < halves.length / 2; at++) into[at] = 0;
  addRuns([{ ...span, max: 0 }, ...(span.runs ?? [span])], halves, into, 1);
}

/** Adds the runs after the lowest one to a column. */
function addRuns(
  runs: readonly Span[] | undefined,
  halves: Uint32Array,
  into: Float64Array | Uint32Array,
  factor: number,
): void {
  if (runs === undefined) return;
  let below = factor * ((runs[0] as Span).max + 1);
  for (const run of runs.slice(1)) {
    for (let at = 0; at < halves.length / 2; at++) into[at] = (into[at] as number) + run.of(halves, 2 * at) * below;
    below *= run.max + 1;
  }
}

/** The node ids that are kept: those of 10 bits. */
const MAX_KEPT = 1024;

const { freeze } = Object;

/** The parts of a node id by name. Frozen, because all IDs of a node id share one object. */
export function partsOf({ parts, partsKept }: Shape, node: number): NamedParts {
  const { none, byNode } = partsKept as PartsKept;
  const kept = node < MAX_KEPT ? byNode?.[node] : undefined;
  if (kept !== undefined) return kept;
  const made = { ...none };
  for (let at = 0; at < parts.length; at++) {
    const [name, count, below] = parts[at] as Shape["parts"][number];
    // `below` is a power of two up to 2^31, and `count` up to 2^32: both operators take the lowest 32 bits.
    made[name] = ((node >>> (31 - Math.clz32(below))) & (count - 1)) >>> 0;
  }
  freeze(made);
  if (node >= MAX_KEPT) return made;
  // Every element is filled: the engine would look up a hole in the prototype, which a program can change.
  const list = byNode ?? Array.from<unknown, NamedParts | undefined>({ length: MAX_KEPT }, () => undefined);
  (partsKept as PartsKept).byNode = list;
  list[node] = made;
  return made;
}

/** The part of a layout that `partsOf` needs. */
export const keepParts = (parts: Shape["parts"]): PartsKept => ({
  none: Object.fromEntries(parts.map(([name]) => [name, 0])),
  byNode: undefined,
});

/** The name of a part as an object key. A substring is not yet one, and the engine would look it up at each use. */
export const keyOf = (name: string): string => Object.keys({ [name]: 0 })[0] as string;
