/** The layouts to compare an ID with: the named ones, and the visitor's own in the fragment of the address. */
import { Layout, type LayoutField } from "frazil/layout";
import { type Reading, readingsOf, sureness, whyNot } from "../../npm/frazil/src/likely/layouts.js";
import type { Found } from "./ids.js";

export const OWN = "yours";

/** Whole words, and the names of IDs that begin with them, such as `tweet_id`: "outside" names no tsid. */
const words = (list: string): RegExp => new RegExp(`(?<![a-z])(${list})(s|_?ids?)?(?![a-z])`, "i");

/** The words by which a line names a system. */
const MENTIONS: readonly (readonly [RegExp, string])[] = [
  [words("twitter|tweet|x\\.com"), "twitter"],
  [words("discord|discordapp"), "discord"],
  [words("instagram"), "instagram"],
  [words("mastodon|toot"), "mastodon"],
  [words("sonyflake"), "sonyflake"],
  [words("tsid"), "tsid"],
  [words("baidu|uid-?generator"), "baidu"],
  [words("leaf|meituan"), "leaf"],
  [words("cosid"), "cosid"],
  [words("seata"), "seata"],
  [words("frazil"), "default"],
];

const NAMED = Layout.names.map((name) => [name as string, Layout.named(name) as Layout] as const);

/** The layouts that an ID fits, most likely first, and how sure that is. */
export interface Answer {
  readonly readings: readonly Reading<Layout>[];
  readonly sureness: ReturnType<typeof sureness> | "given";
  /** Whether the visitor's layout cannot hold the ID. */
  readonly isBeyondOwn: boolean;
  /** Layouts that can hold the ID, and what speaks against each. */
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
  const isBeyondOwn = own !== undefined && own.tryParse(id) === undefined;
  if (own === undefined || isBeyondOwn || whyNot(own, id, nowMs) !== undefined)
    return { readings, sureness: sureness(readings), isBeyondOwn, doubtful };
  const timestampMs = own.timestampOf(id);
  const reading = { name: OWN, layout: own, timestampMs, evidence: 0, reasons: [], isDoubted: false };
  return { readings: [reading, ...readings], sureness: "given", isBeyondOwn, doubtful };
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
  // A time without a zone would be another one for each visitor.
  const isDate = /^\d{4}-\d\d-\d\d(T.*(Z|[+-]\d\d:\d\d))?$/.test(epoch);
  const epochMs = /^\d+$/.test(epoch) ? Number(epoch) : Date.parse(isDate ? epoch : "");
  if (Number.isNaN(epochMs))
    throw new Error(
      `Epoch "${epoch}": write a day, such as 2024-01-01, a time with Z or an offset, or Unix milliseconds.`,
    );
  const list = fields.split(",").map(fieldOf);
  const unsigned = list.reduce((sum, { bits }) => sum + bits, 0) > 63;
  return new Layout({ epochMs, tickMs: Number(tickMs), unsigned, fields: list });
}

/** The fragment of a layout, without the `#`. It has no ID. */
export function fragmentOf({ fields, tickMs, epoch }: Written): string {
  const list = fields.split(",").map((field) => field.trim().replaceAll(/\s+/g, ":"));
  const all = new URLSearchParams({ layout: list.join(","), tick: tickMs, epoch });
  // A fragment may have these, and people read it.
  return `${all}`.replaceAll("%3A", ":").replaceAll("%2C", ",");
}

/** Part of a fragment, which anybody can write, as the page shows it. */
const cut = (text: string): string => text.slice(0, 64);

export function writtenIn(fragment: string): Written | undefined {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const fields = given.get("layout");
  if (fields === null) return undefined;
  return {
    fields: fields
      .split(",", 64)
      .map((field) => cut(field.replaceAll(":", " ")))
      .join(", "),
    tickMs: cut(given.get("tick") ?? "1"),
    epoch: cut(given.get("epoch") ?? "2024-01-01"),
  };
}
