/** The layouts to compare an ID with: the named ones, and the visitor's own in the fragment of the address. */
import { Layout, type LayoutField } from "frazil/layout";
import { type Reading, readingsOf, sureness, whyNot } from "../../npm/frazil/src/likely/layouts.js";
import type { Found } from "./ids.js";

export const OWN = "yours";

/** The words by which a line names a system. */
const MENTIONS: readonly (readonly [RegExp, string])[] = [
  [/twitter|tweet|\bx\.com/i, "twitter"],
  [/discord/i, "discord"],
  [/instagram/i, "instagram"],
  [/mastodon|toot/i, "mastodon"],
  [/sonyflake/i, "sonyflake"],
  [/tsid/i, "tsid"],
  [/baidu|uid-?generator/i, "baidu"],
  [/\bleaf\b|meituan/i, "leaf"],
  [/cosid/i, "cosid"],
  [/seata/i, "seata"],
  [/frazil/i, "default"],
];

const NAMED = Layout.names.map((name) => [name as string, Layout.named(name) as Layout] as const);

/** The layouts that an ID fits, most likely first, and how sure that is. */
export interface Answer {
  readonly readings: readonly Reading<Layout>[];
  readonly sureness: ReturnType<typeof sureness> | "given";
  /** Layouts that can hold the ID, each with the reason against it. */
  readonly doubtful: readonly { readonly name: string; readonly layout: Layout; readonly doubt: string }[];
}

export function answerFor({ id, line }: Found, own: Layout | undefined, nowMs: number): Answer {
  const mentioned = new Set(MENTIONS.filter(([words]) => words.test(line)).map(([, name]) => name));
  const readings = readingsOf(id, NAMED, nowMs, mentioned);
  const layouts = own === undefined ? NAMED : [[OWN, own] as const, ...NAMED];
  const doubtful = layouts.flatMap(([name, layout]) => {
    const doubt = layout.tryParse(id) === undefined ? undefined : whyNot(layout, id, nowMs);
    return doubt === undefined ? [] : [{ name, layout, doubt }];
  });
  if (own?.tryParse(id) === undefined || whyNot(own, id, nowMs) !== undefined)
    return { readings, sureness: sureness(readings), doubtful };
  const reading = { name: OWN, layout: own, timestampMs: own.timestampOf(id), evidence: 0, reasons: [] };
  return { readings: [reading, ...readings], sureness: "given", doubtful };
}

/** A layout in the visitor's words. */
export interface Written {
  /** Such as `time 41, node 10, sequence 12`. */
  readonly fields: string;
  readonly tickMs: string;
  readonly epoch: string;
}

function fieldOf(text: string): LayoutField {
  const [name = "", bits = "", ...more] = text.trim().split(/[\s:]+/);
  if (more.length > 0 || !/^\d+$/.test(bits))
    throw new Error(`Field "${text.trim()}": write a name and a width, such as "node 10".`);
  const kind = ["time", "node", "clock", "sequence"].includes(name) ? (name as LayoutField["kind"]) : "node";
  return { kind, bits: Number(bits), ...(kind === name ? {} : { name }) };
}

/** The layout; throws an error that says what is wrong. */
export function layoutOf({ fields, tickMs, epoch }: Written): Layout {
  const epochMs = /^\d+$/.test(epoch) ? Number(epoch) : Date.parse(/T|^\d{4}-\d\d-\d\d$/.test(epoch) ? epoch : "");
  if (Number.isNaN(epochMs))
    throw new Error(`Epoch "${epoch}": write a day, such as 2024-01-01, or Unix milliseconds.`);
  const list = fields.split(",").map(fieldOf);
  const unsigned = list.reduce((sum, { bits }) => sum + bits, 0) > 63;
  return new Layout({ epochMs, tickMs: Number(tickMs), unsigned, fields: list });
}

/** The fragment of a layout, without the `#` and without an ID. */
export const fragmentOf = ({ fields, tickMs, epoch }: Written): string =>
  `layout=${fields
    .trim()
    .replaceAll(/\s*,\s*/g, ",")
    .replaceAll(/\s+/g, ":")}&tick=${tickMs}&epoch=${epoch}`;

export function writtenIn(fragment: string): Written | undefined {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const fields = given.get("layout");
  if (fields === null) return undefined;
  return {
    fields: fields.replaceAll(":", " ").replaceAll(",", ", "),
    tickMs: given.get("tick") ?? "1",
    epoch: given.get("epoch") ?? "2024-01-01",
  };
}
