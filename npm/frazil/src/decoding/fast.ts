/**
 * What `Layout` reads IDs with in Node and Bun: the same as elsewhere, in loops that call no function. Ten IDs take the time of four.
 */
import { LOW, type Span } from "../bits.js";
import type { Arrays, Shape } from "../shape.js";

/** Whether these functions are used. See `small.ts`. */
export enum Decoding {
  FAST = 1,
}

/**
 * How one run of adjacent bits is read: `((high >>> highShift) & highMask) * scale + ((low >>> lowShift) & lowMask)`, without signs.
 * Shifts are modulo 32, and masks are 32-bit integers.
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
  for (let at = 0; at < halves.length; at += 2) {
    const above = ((halves[at + high] as number) >>> highShift) & highMask;
    if (above | (((halves[at + low] as number) >>> lowShift) & lowMask)) return at / 2;
  }
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
  const { length } = timestampMs;
  // One loop for the three fields that most layouts have: each half is read once.
  const nodes = into.node ?? new Uint32Array(length);
  const [t0, t1, t2, t3, t4] = masksOf(lowest(time));
  const [n0, n1, n2, n3, n4] = node ? masksOf(lowest(node)) : [0, 0, 1, 0, 0];
  const [s0, s1, s2, s3, s4] = masksOf(lowest(sequence));
  const [l, h] = [LOW, 1 - LOW];
  for (let at = 0; at < length; at++) {
    const low = halves[2 * at + l] as number;
    const high = halves[2 * at + h] as number;
    timestampMs[at] = ((((high >>> t0) & t1) >>> 0) * t2 + (((low >>> t3) & t4) >>> 0)) * tickMs + epochMs;
    nodes[at] = (((high >>> n0) & n1) >>> 0) * n2 + (((low >>> n3) & n4) >>> 0);
    sequences[at] = (((high >>> s0) & s1) >>> 0) * s2 + (((low >>> s3) & s4) >>> 0);
  }
  addRuns(time.runs, halves, timestampMs, tickMs);
  addRuns(node?.runs, halves, nodes, 1);
  addRuns(sequence.runs, halves, sequences, 1);
  if (clock) {
    const clocks = into.clock as Uint32Array;
    clocks.fill(0);
    addRuns([{ ...clock, max: 0 }, ...(clock.runs ?? [clock])], halves, clocks, 1);
  }
}

/** Adds to a column what the runs after the lowest one have. */
function addRuns(
  runs: readonly Span[] | undefined,
  halves: Uint32Array,
  into: Float64Array | Uint32Array,
  factor: number,
): void {
  if (runs === undefined) return;
  let below = factor * ((runs[0] as Span).max + 1);
  for (const run of runs.slice(1)) {
    for (let at = 0; at < into.length; at++) into[at] = (into[at] as number) + run.of(halves, 2 * at) * below;
    below *= run.max + 1;
  }
}

type Part = Shape["parts"][number];

const partOf = (part: Part, node: number): number => Math.floor(node / part[2]) % part[1];

/** The parts of a node id by name. A literal with one or two names is made in a ninth of the time of `Object.fromEntries`. */
export function partsOf(parts: Shape["parts"], node: number): Record<string, number> {
  const first = parts[0] as Part;
  if (parts.length === 1) return { [first[0]]: partOf(first, node) };
  const second = parts[1] as Part;
  if (parts.length === 2) return { [first[0]]: partOf(first, node), [second[0]]: partOf(second, node) };
  return Object.fromEntries(parts.map((part) => [part[0], partOf(part, node)]));
}

/** The name of a part as the key of an object. One that was cut out of a text is none yet, and the engine would look it up at each use. */
export const keyOf = (name: string): string => Object.keys({ [name]: 0 })[0] as string;
