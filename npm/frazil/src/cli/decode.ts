/** `npx frazil decode`: the fields of IDs. */
import { type Decoded, Layout } from "frazil";
import { wallClock } from "../base/clock.js";
import { FITTING_TIME, readingsOf, whyNot } from "../likely/layouts.js";
import { fieldsOf, layoutOf } from "./chosen-layout.js";
import type { Command } from "./command.js";
import type { Flags } from "./flags.js";
import { formOf, withoutN } from "./forms.js";
import { annotate } from "./grep.js";
import { hintFor } from "./hints.js";
import { answerArguments, answerLines, readsLines } from "./input.js";
import { listText, tableText } from "./output.js";
import { UsageError } from "./usage-error.js";

/** The bits of an ID, field by field. */
function bitsOf(id: bigint, layout: Layout): string {
  const width = layout.fields.reduce((bits, field) => bits + field.bits, 0);
  let rest = id.toString(2).padStart(width, "0");
  const fields = layout.fields.map(({ bits }) => {
    const field = rest.slice(0, bits);
    rest = rest.slice(bits);
    return field;
  });
  return fields.join(" ");
}

/** Times as ISO 8601. Adjacent IDs mostly share a second, which is formatted once. */
function isoTimes(): (ms: number) => string {
  let [second, prefix] = [NaN, ""];
  return (ms) => {
    const part = ms % 1000;
    if (ms - part !== second) {
      second = ms - part;
      prefix = new Date(second).toISOString().slice(0, -4);
    }
    return `${prefix}${`${part}`.padStart(3, "0")}Z`;
  };
}

/** An ID in one line: the ID, the time, then `name=value` for each other field. */
function lineOf(layout: Layout): (decoded: Decoded) => string {
  const isoOf = isoTimes();
  const isNamed = layout.fields.some(({ name }) => name !== undefined);
  return ({ id, timestampMs, node, clock, sequence, parts }: Decoded) => {
    let text = `${id} ${isoOf(timestampMs)}`;
    if (isNamed) for (const name in parts) text += ` ${name}=${parts[name]}`;
    else if (node !== undefined) text += ` node=${node}`;
    if (clock !== undefined) text += ` clock=${clock}`;
    return `${text} sequence=${sequence}`;
  };
}

/** An ID in one line of JSON, as from `JSON.stringify`, which spends most of its time on the date. */
function jsonOf(): (decoded: Decoded) => string {
  const isoOf = isoTimes();
  return (decoded) => JSON.stringify(Object.assign(decoded.toJSON(), { date: isoOf(decoded.timestampMs) }));
}

/** The possible layouts, most likely first. */
const likelyReadings = (id: bigint) =>
  readingsOf(
    id,
    Layout.names.map((name) => [name, Layout.named(name) as Layout]),
    wallClock(),
  );

/** By how many bits of evidence another layout leads where `default` is doubted: it leads for most IDs of `default`. */
const DOUBT_BITS = 3;
/** Node ids below this are usual, as they are granted from 0, and take as many bits more: log2(1024 / 16). */
const USUAL_NODES = 16;
const USUAL_NODE_BITS = 6;
/** Sequences below this are usual, as a tick of a Worker has few IDs. */
const USUAL_SEQUENCES = 16;

/**
 * Whether an ID that reads as `default` may be one of `leased()`, whose layout is `edge`: the time is the same, and four bits of the node
 * id are in the sequence, above those that an ID of `default` mostly has.
 */
function mayBeLeased(id: bigint): boolean {
  const { sequence } = Layout.named("default").decode(id);
  const own = Layout.named("edge").decode(id).sequence;
  return own !== sequence && own < USUAL_SEQUENCES;
}

/** The note if no layout was named and the ID may have another one. */
function guessOf(id: bigint, layout: Layout): [string, string][] {
  const rows: [string, string][] = [];
  const readings = likelyReadings(id);
  const doubt = whyNot(layout, id, wallClock());
  if (doubt !== undefined) rows.push(["doubt", `as default, ${doubt}`]);
  else {
    const [first] = readings;
    const own = readings.find(({ name }) => name === "default");
    const lead = (first?.evidence ?? 0) - (own?.evidence ?? 0);
    const isUsual = (layout.decode(id).node ?? 0) < USUAL_NODES;
    if (lead > DOUBT_BITS + (isUsual ? USUAL_NODE_BITS : 0)) rows.push(["doubt", `${first?.name} is more likely`]);
    else if (mayBeLeased(id)) rows.push(["or by", "leased() of frazil/workers? --layout edge"]);
  }
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const others = listText(
    readings.filter(({ name }) => name !== "default").map(({ name, timestampMs: ms }) => `${name} ${dayOf(ms)}`),
  );
  for (const [at, text] of others.split("\n").entries()) if (text !== "") rows.push([at === 0 ? "or as" : "", text]);
  return rows;
}

/** The fields of an ID, one a line. */
function rowsText(text: string, decoded: Decoded, layout: Layout, isGuessed: boolean): string {
  const parts = Object.entries(decoded.parts ?? {});
  const named = parts.length > 1 || parts[0]?.[0] !== "node" ? parts : [];
  return tableText([
    ["id", text === `${decoded.id}` ? text : `${decoded.id} (${text})`],
    ["time", `${decoded.date.toISOString()} (${decoded.timestampMs})`],
    ...(decoded.node === undefined ? [] : [["node", decoded.node]]),
    ...named.map(([name, value]) => [`  ${name}`, value]),
    ...(decoded.clock === undefined ? [] : [["clock", decoded.clock]]),
    ["sequence", decoded.sequence],
    ["bits", bitsOf(decoded.id, layout)],
    ["", fieldsOf(layout, " | ")],
    ...(isGuessed ? guessOf(decoded.id, layout) : []),
  ]);
}

const READER = { command: "decode", example: "decode 175928847299117063 --layout discord" };

/** The fields in a line of a log, after the ID. */
async function runGrep(flags: Flags, ids: readonly string[], layout: Layout): Promise<number> {
  const other = (["from", "json"] as const).find((flag) => flags[flag] !== undefined);
  if (other !== undefined)
    throw new UsageError(`--${other} is not for --grep, which reads decimal IDs and prints text`);
  if (ids.some((id) => id !== "-"))
    throw new UsageError("--grep reads standard input\nnpx frazil decode --grep < FILE");
  readsLines({ command: "decode", example: "decode --grep < FILE" }, flags, ids);
  const text = lineOf(layout);
  await annotate(layout, (id) => text(layout.decode(id)).replace(/^\S+ /, ""));
  return 0;
}

async function run(flags: Flags, ids: readonly string[]): Promise<number> {
  const layout = layoutOf(flags);
  if (flags.grep) return runGrep(flags, ids, layout);
  const form = formOf("from", flags.from);
  // Decimal text stays as it is, so that a refusal shows it.
  const decoded = (text: string) => layout.decode(flags.from === undefined ? withoutN(text) : form.read(text));
  const inOneLine = flags.json ? jsonOf() : lineOf(layout);
  const answer = (text: string) => inOneLine(decoded(text));
  if (readsLines(READER, flags, ids)) return answerLines(READER, ids.length > 0, answer);
  const hint = (text: string) => hintFor("decode", text, flags);
  if (flags.json) return answerArguments(ids, answer, hint);
  const isGuessed = flags.layout === undefined && flags.epoch === undefined;
  return answerArguments(ids, (text) => rowsText(text, decoded(text), layout, isGuessed), hint, "\n");
}

export const decode: Command = {
  name: "decode",
  summary: "the fields of IDs: time, node, sequence, bits",
  usage: "[ID … | -]",
  examples: [
    ["decode 175928847299117063 --layout discord", ""],
    ["decode --from base62 1ptWyK4WgZU -l twitter", "of an ID in another form"],
    ["decode - --json < ids.txt", "one ID a line, as are the answers"],
    ["decode --grep < app.log", "a log, with the fields after each ID"],
  ],
  notes: `Without an ID, or with -, the IDs are the lines of standard input. Each is answered in one line: the ID, the\ntime, and name=value for each other field. A line that is refused is reported with its number, the others\nare answered, and the exit code is 1.\nWithout --layout the IDs are read as default. An ID does not say its layout: the row "or as" has the others that\ngive a time ${FITTING_TIME}, most likely first.`,
  flags: ["layout", "epoch", "from", "grep", "json"],
  takesArguments: true,
  run,
};
