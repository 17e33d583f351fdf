/**
 * Which layouts an ID can be of, most likely first. An ID does not say its layout, so this weighs what is known of each system: the
 * command line and the decoder of the site show the same order.
 */
const DAY_MS = 86_400_000;
const MONTH_MS = 30 * DAY_MS;

/** The IDs of a system, as far as known. */
interface System {
  /** How common its IDs are, in bits of evidence. */
  readonly usual: number;
  /** Whether its sequence starts from 0 in each tick. Otherwise it says nothing. */
  readonly counts: boolean;
  /** Its first IDs date from then, though its epoch is earlier. */
  readonly sinceMs?: number;
  /** Upper bounds of its node parts, which count from 0 and are neither addresses nor random. */
  readonly partsUpTo?: { readonly [part: string]: number };
  /** From then on, its parts say nothing. */
  readonly partsUntilMs?: number;
}

const USUAL: System = { usual: 0, counts: true };
const SYSTEMS: { readonly [name: string]: System } = {
  default: { usual: 2, counts: true },
  // True of nine tweets of 2011 to 2016. In five since 2017 the datacenter is 10 or 11.
  twitter: { usual: 5, counts: true, partsUpTo: { datacenter: 7, worker: 15 }, partsUntilMs: Date.UTC(2017, 0) },
  // True of 14 of 15 published IDs.
  discord: { usual: 4, counts: true, partsUpTo: { worker: 7, process: 15 } },
  // A counter of the shard, modulo 1024.
  instagram: { usual: 3, counts: false },
  // Since version 2.0. Part of the sequence is a hash.
  mastodon: { usual: 3, counts: false, sinceMs: Date.UTC(2017, 9, 1) },
  // Random in each millisecond.
  tsid: { usual: 1, counts: false },
  // Numbers of starts, from 1.
  sonyflake: { usual: 1, counts: true },
  baidu: { usual: 0, counts: true, partsUpTo: { worker: 1023 } },
};

/** The part of a `Layout` that is used here, from any copy of the package. */
export interface AskedLayout {
  readonly epochMs: number;
  readonly tickMs: number;
  readonly fields: readonly { readonly kind: string; readonly name?: string; readonly bits: number }[];
  readonly tryParse: (id: bigint) => bigint | undefined;
  readonly timestampOf: (id: bigint) => number;
  readonly decode: (id: bigint) => {
    readonly timestampMs: number;
    readonly sequence: number;
    readonly parts: Readonly<Record<string, number>> | undefined;
  };
}

/** A layout that an ID can be of. */
export interface Reading<L extends AskedLayout = AskedLayout> {
  readonly name: string;
  readonly layout: L;
  readonly timestampMs: number;
  /** The evidence for and against it, in bits. */
  readonly evidence: number;
  /** The reasons for and against it, besides its time. */
  readonly reasons: readonly string[];
  /** Whether all the reasons speak against it. */
  readonly isDoubted: boolean;
}

/** The times that `whyNot` accepts. */
export const FITTING_TIME = "after the first day of the epoch, and at most a day ahead";

/** The reason against the time that a layout gives; `undefined` if there is none. */
export function whyNot(layout: AskedLayout, id: bigint, nowMs: number): string | undefined {
  const ms = layout.timestampOf(id);
  if (ms > nowMs + DAY_MS) return "its time has not come yet";
  return ms < layout.epochMs + DAY_MS ? "its time is the first day of the epoch" : undefined;
}

/** A field is low if at most one in 256 random ones would be. */
const isLow = (value: number, bits: number): boolean => value * 256 < 2 ** bits;

/** The reading of an ID of that layout. `mentioned`: the text around the ID names the system. */
function readingOf<L extends AskedLayout>(
  name: string,
  layout: L,
  id: bigint,
  nowMs: number,
  mentioned: boolean,
): Reading<L> {
  const { usual, counts, sinceMs, partsUpTo, partsUntilMs = Number.POSITIVE_INFINITY } = SYSTEMS[name] ?? USUAL;
  const { timestampMs, sequence, parts } = layout.decode(id);
  const widthOf = (wanted: string) => layout.fields.find(({ kind, name }) => (name ?? kind) === wanted)?.bits ?? 0;
  const values: Readonly<Record<string, number>> = parts ?? {};
  const reasons: string[] = [];
  const weights: number[] = [];
  // Random bits give times across the whole field. IDs that people look at are recent: twice the age is half as likely.
  const spanMs = layout.tickMs * 2 ** widthOf("time");
  let evidence = usual + Math.log2(spanMs / (Math.max(0, nowMs - timestampMs) + MONTH_MS));
  const says = (bits: number, reason: string) => {
    evidence += bits;
    reasons.push(reason);
    weights.push(bits);
  };
  if (mentioned) says(20, `the text names ${name}`);
  if (sinceMs !== undefined && timestampMs < sinceMs) says(-10, `${name} made no such IDs then`);
  if (counts && isLow(sequence, widthOf("sequence"))) says(5, "its sequence is low, as is usual");
  else if (counts) says(-3, "its sequence is high, which is rare");
  if (partsUpTo !== undefined && timestampMs < partsUntilMs) {
    const limits = Object.entries(partsUpTo);
    const are = `its ${limits.map(([part]) => part).join(" and ")} ${limits.length > 1 ? "are" : "is"}`;
    // The chance that random parts would be as low.
    const chances = limits.map(([part, limit]) => (limit + 1) / 2 ** widthOf(part));
    if (limits.every(([part, limit]) => (values[part] as number) <= limit))
      says(-Math.log2(chances.reduce((all, chance) => all * chance)), `${are} low, as is usual`);
    else says(-6, `${are} high, which is rare`);
  }
  const isDoubted = weights.length > 0 && weights.every((bits) => bits < 0);
  return { name, layout, timestampMs, evidence, reasons, isDoubted };
}

/** The layouts that give a fitting time, most likely first. */
export function readingsOf<L extends AskedLayout>(
  id: bigint,
  layouts: Iterable<readonly [name: string, layout: L]>,
  nowMs: number,
  mentioned: ReadonlySet<string> = new Set(),
): Reading<L>[] {
  return [...layouts]
    .filter(([, layout]) => layout.tryParse(id) !== undefined && whyNot(layout, id, nowMs) === undefined)
    .map(([name, layout]) => readingOf(name, layout, id, nowMs, mentioned.has(name)))
    .sort((a, b) => b.evidence - a.evidence);
}

/** How sure the first of the readings is. That no other layout fits says little: half of all random numbers fit only one. */
export function sureness([first, second]: readonly Reading[]): "none" | "only" | "likely" | "possible" {
  if (first === undefined) return "none";
  if (second === undefined) return first.isDoubted ? "possible" : "only";
  return first.evidence - second.evidence > 3 ? "likely" : "possible";
}
