/**
 * The functions of a layout as expressions of a dialect. Every number comes from the fields: positions and widths, the epoch and the tick.
 * Products stand for shifts to the left, since an engine refuses a product that is too large, and wraps a shift.
 */
import type { LayoutField } from "frazil";
import { base62 } from "../typed/base62.js";
import type { Definition, Dialect } from "./dialect.js";

/** The part of a layout that the functions depend on. */
export interface Fields {
  readonly epochMs: number;
  readonly tickMs: number;
  readonly fields: readonly LayoutField[];
}

interface Run {
  readonly shift: number;
  readonly bits: number;
}

const MAX_SIGNED = 2n ** 63n - 1n;
const DIGITS = base62.encode(0n).length;
const ALPHABET = `'${Array.from({ length: 62 }, (_, digit) => base62.encode(BigInt(digit)).slice(-1)).join("")}'`;
/** An ID of 64 bits has this number of values for its sign. */
const HALF = 2n ** 63n;

/** The bits of each kind of field, the most significant run first. */
export function runsOf({ fields }: Fields): { bits: number; runs: (kind: LayoutField["kind"]) => Run[] } {
  const bits = fields.reduce((sum, field) => sum + field.bits, 0);
  let below = bits;
  const all = fields.map(({ kind, bits }) => {
    below -= bits;
    return { kind, bits, shift: below };
  });
  return { bits, runs: (kind) => all.filter((run) => run.kind === kind) };
}

/** The functions of a layout. There are those of ranges unless a clock or a sequence lies above the time. */
export function functionsOf(layout: Fields, dialect: Dialect): Definition[] {
  const { epochMs, tickMs } = layout;
  const { bits, runs } = runsOf(layout);
  const time = runs("time")[0] as Run;
  const nodes = runs("node");
  /** Whether the sign of a number is a bit of the ID. */
  const isWrapped = bits === 64 && dialect.isSigned === true;
  const isUnsigned = bits === 64 && !isWrapped;
  const maxId = 2n ** BigInt(bits) - 1n;
  const limit = isUnsigned ? maxId : MAX_SIGNED;

  const field = (value: string, { shift, bits: width }: Run): string =>
    dialect.field(value, shift, shift + width === bits && !isWrapped && !dialect.isUnchecked ? undefined : width);
  /** The runs of a field as one number. */
  const joined = (parts: readonly Run[]): string => {
    let below = 0;
    return [...parts]
      .reverse()
      .map((run) => {
        const part = below === 0 ? field("id", run) : `${field("id", run)} * ${2n ** BigInt(below)}`;
        below += run.bits;
        return part;
      })
      .reverse()
      .join(" + ");
  };
  const checked = (body: string): string => {
    if (isWrapped || dialect.isUnchecked) return body;
    const holds = bits === 63 && dialect.isSigned ? "id >= 0" : `id BETWEEN 0 AND ${maxId}`;
    return `CASE WHEN ${holds} THEN ${body} END`;
  };
  const ticks = tickMs === 1 ? field("id", time) : `${field("id", time)} * ${tickMs}`;
  const lastMs = epochMs + (2 ** time.bits - 1) * tickMs;
  const ofId = (name: string, returns: Definition["returns"], body: string): Definition => ({
    name: `frazil_${name}`,
    parameters: [["id", "id"]],
    returns,
    body: checked(body),
  });

  const text = digitsOf(isWrapped, dialect);
  const typed: Definition = {
    name: "frazil_typed",
    parameters: [
      ["prefix", "text"],
      ["id", "id"],
    ],
    returns: "text",
    body: checked(dialect.join(["prefix", "'_'", ...text])),
  };
  return [
    ofId("time", "time", dialect.timeOf(epochMs === 0 ? ticks : `${epochMs} + ${ticks}`, lastMs)),
    ...(nodes.length > 0 ? [ofId("node", "node", joined(nodes))] : []),
    ...(runs("clock").length > 0 ? [ofId("clock", "id", joined(runs("clock")))] : []),
    ofId("sequence", "id", joined(runs("sequence"))),
    ...rangesOf(),
    ofId("base62", "text", dialect.join(text)),
    {
      name: "frazil_parse_base62",
      parameters: [["digits", "text"]],
      returns: "id",
      body: idOfText(maxId, isWrapped, isUnsigned, dialect),
    },
    typed,
  ];

  function rangesOf(): Definition[] {
    if (!isTimeOrdered(layout)) return [];
    const nodeBits = nodes.reduce((sum, run) => sum + run.bits, 0);
    let unread = nodeBits;
    // The node bits above the time, in their places.
    const above = nodes.flatMap(({ shift, bits: width }) => {
      unread -= width;
      if (shift < time.shift) return [];
      const isAll = unread + width === nodeBits;
      const part = dialect.field("node", unread, isAll ? undefined : width);
      return [`${isUnsigned ? (dialect.unsigned?.(part) ?? part) : part} * ${2n ** BigInt(shift)}`];
    });
    const isAbove = above.length > 0;
    // A column with a sign holds half of the times of 64 bits in order.
    const ends = 2n ** BigInt(isWrapped ? 63 - time.shift : time.bits);
    const endMs = BigInt(epochMs) + ends * BigInt(tickMs);
    const ms = dialect.msOf("at_time");
    const since = epochMs === 0 ? ms : `${ms} - ${epochMs}`;
    const ticks = tickMs === 1 ? `(${since})` : `(${dialect.divide(`(${since})`, tickMs)})`;
    const tick = isUnsigned ? (dialect.unsigned?.(ticks) ?? ticks) : ticks;
    const scale = 2n ** BigInt(time.shift);
    const size = ends * scale;
    const parts = above.join(" + ");
    const top = nodes
      .filter(({ shift }) => shift > time.shift)
      .reduce((sum, run) => sum + (2n ** BigInt(run.bits) - 1n) * 2n ** BigInt(run.shift), 0n);
    // One more than the largest ID does not fit.
    const isFull = top + size > limit;
    const beyond =
      isAbove && isFull ? `${size - 1n} + CASE WHEN ${parts} < ${top} THEN 1 ELSE 0 END` : `${isFull ? limit : size}`;
    // Without a time none of them holds, so the result is null.
    const first = `CASE WHEN ${ms} < ${epochMs} THEN 0
    WHEN ${ms} < ${endMs} THEN ${tick} * ${scale}
    WHEN ${ms} >= ${endMs} THEN ${beyond} END`;
    const inRange = `node BETWEEN 0 AND ${2n ** BigInt(nodeBits) - 1n}`;
    const body = isAbove ? `CASE WHEN ${inRange} THEN ${parts} + ${first} END` : first;
    return ["from", "until"].map((name) => ({
      name: `frazil_${name}`,
      parameters: [["at_time", "time"] as const, ...(isAbove ? [["node", "node"] as const] : [])],
      returns: "id" as const,
      body,
    }));
  }
}

/** Whether only node ids lie above the time. */
export function isTimeOrdered(layout: Fields): boolean {
  const { runs } = runsOf(layout);
  const { shift } = runs("time")[0] as Run;
  return [...runs("clock"), ...runs("sequence")].every((run) => run.shift < shift);
}

/** Whether node ids lie above the time. */
export function isNodeAbove(layout: Fields): boolean {
  const { runs } = runsOf(layout);
  return (runs("node")[0]?.shift ?? 0) > (runs("time")[0] as Run).shift;
}

/** The digits of an ID in base 62. */
function digitsOf(isWrapped: boolean, dialect: Dialect): string[] {
  return Array.from({ length: DIGITS }, (_, at) => {
    const power = DIGITS - 1 - at;
    let digit: string;
    if (!isWrapped) {
      const rest = power === 0 ? "id" : dialect.divide("id", 62n ** BigInt(power));
      digit = power === DIGITS - 1 ? rest : dialect.modulo(rest, 62);
    } else {
      // Half of the unsigned number fits, and 62 is 2 * 31.
      const half = dialect.field("id", 1, 63);
      const rest = `(${dialect.divide(half, 31n * 62n ** BigInt(Math.max(power - 1, 0)))})`;
      digit = power === 0 ? `${dialect.modulo(half, 31)} * 2 + ${dialect.field("id", 0, 1)}` : dialect.modulo(rest, 62);
    }
    return dialect.charAt(ALPHABET, digit);
  });
}

/** The ID of a text in base 62. */
function idOfText(maxId: bigint, isWrapped: boolean, isUnsigned: boolean, dialect: Dialect): string {
  const digit = (at: number): string => {
    const index = `(${dialect.indexIn(ALPHABET, "digits", at + 1)})`;
    return isUnsigned ? (dialect.unsigned?.(index) ?? index) : index;
  };
  const sum = (length: number) =>
    Array.from({ length }, (_, at) =>
      at === length - 1 ? digit(at) : `${digit(at)} * ${62n ** BigInt(length - 1 - at)}`,
    ).join("\n    + ");
  const isId = `${dialect.isBase62("digits")} AND ${dialect.binary("digits")} <= '${base62.encode(maxId)}'`;
  if (!isWrapped) return `CASE WHEN ${isId} THEN ${sum(DIGITS)} END`;
  // From 2^63 on, the number minus 2^64, without a step that needs more than 64 bits.
  return `CASE WHEN ${isId} THEN CASE WHEN ${dialect.binary("digits")} < '${base62.encode(HALF)}' THEN ${sum(DIGITS)}
    ELSE (${sum(DIGITS - 1)} - ${HALF / 62n}) * 62 - 9223372036854775807 - 1
    + ${digit(DIGITS - 1)} - ${HALF % 62n} END END`;
}
