/** The report for people: one screen. */
import { tableText } from "../output.js";
import type { Finding, Report } from "./report.js";

/** The longest bar, in columns. */
const BAR = 40;
/** The most bars of days, and of nodes. */
const [MAX_DAYS, MAX_NODES] = [12, 6];
/** The findings of a kind, and the rows of one, that are shown. */
const [MAX_OF_KIND, MAX_ROWS] = [3, 3];
const WIDTH = 100;

const grouped = (number: number) => number.toLocaleString("en");
const isoOf = (ms: number) => new Date(ms).toISOString();

/** A bar for a number, where `most` has the longest one. What is not 0 has some. */
const barOf = (number: number, most: number) => "#".repeat(Math.ceil((number / Math.max(1, most)) * BAR));

const DAY_MS = 86_400_000;
const dayOf = (day: number) => isoOf(day * DAY_MS).slice(0, 10);

/** The days from the first to the last, in at most so many stretches of equal length. */
function stretches(days: Report["days"]): (readonly [name: string, ids: number])[] {
  const numbered = days.map(({ day, ids }) => [Date.parse(day) / DAY_MS, ids] as const);
  const [first, last] = [numbered[0]?.[0] ?? 0, numbered.at(-1)?.[0] ?? -1];
  const length = Math.ceil((last - first + 1) / MAX_DAYS);
  const sums = new Array<number>(Math.ceil((last - first + 1) / Math.max(1, length))).fill(0);
  for (const [day, ids] of numbered) {
    const at = Math.floor((day - first) / length);
    sums[at] = (sums[at] ?? 0) + ids;
  }
  return sums.map((ids, at) => {
    const [from, to] = [first + at * length, Math.min(last, first + (at + 1) * length - 1)];
    return [from === to ? dayOf(from) : `${dayOf(from)} to ${dayOf(to)}`, ids];
  });
}

/** A table of names, bars and numbers, the longest bar for the highest number. */
function histogram(title: string, rows: readonly (readonly [name: string, ids: number, ...more: string[]])[]): string {
  if (rows.length === 0) return "";
  const most = Math.max(...rows.map(([, ids]) => ids));
  const width = Math.max(...rows.map(([, ids]) => grouped(ids).length));
  const lines = rows.map(([name, ids, ...more]) => [
    `  ${name}`,
    grouped(ids).padStart(width),
    barOf(ids, most).padEnd(more.length > 0 ? BAR : 0),
    ...more,
  ]);
  return `${title}\n${tableText(lines)}\n`;
}

/** A text in lines of at most `WIDTH` columns, each after the indent. */
function wrapped(text: string, indent: string): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line === undefined || `${line} ${word}`.length > WIDTH - indent.length) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.map((line) => `${indent}${line}\n`).join("");
}

function certaintyOf({ certainty, falseAlarmRate: rate = 0 }: Finding): string {
  return rate > 0 ? `${certainty}: at most 1 of ${grouped(Math.round(1 / rate))} clean sets has one` : certainty;
}

/** Where a row is. */
const placeOf = (names: readonly string[], { file, line, id, host }: Finding["rows"][number]) =>
  [
    id,
    host === undefined ? "" : ` of ${host}`,
    line === undefined ? "" : `, ${names.length > 1 && file !== undefined ? `${names[file]} ` : ""}line ${line}`,
  ].join("");

/** The findings of a kind, which mostly have one hint. */
function kindText(names: readonly string[], findings: readonly Finding[]): string {
  const lines = findings.slice(0, MAX_OF_KIND).map((finding, at) => {
    const { kind, message, hint, rows } = finding;
    const shown = [...new Set(rows.map((row) => placeOf(names, row)))].slice(0, MAX_ROWS);

    return [
      wrapped(`${kind} (${certaintyOf(finding)}): ${message}`, "  ").replace(/^ {2}/, "* "),
      shown.length === 0 ? "" : wrapped(`Such as ${shown.join("; ")}`, "  "),
      hint === "" || (findings[at + 1]?.hint === hint && at + 1 < MAX_OF_KIND) ? "" : wrapped(hint, "  "),
    ].join("");
  });
  const more = findings.length - MAX_OF_KIND;
  if (more > 0) lines.push(`* ${more} more of ${findings[0]?.kind}: --json\n`);
  return lines.join("");
}

/** What the layout is, and how sure that is. */
function layoutText({
  name = "own",
  fields,
  tickMs,
  epochMs,
  guessed,
  score,
  reason = "",
  runnerUp,
}: Report["layout"]) {
  if (fields.length === 0)
    return [
      ["layout", `unknown: ${reason}`],
      ["", "Give it by --layout. Without it, only repeats are found."],
    ];
  const bits = fields.map(({ kind, name, bits }) => `${name ?? kind} ${bits}`).join(" | ");
  const evidence = score === undefined ? "" : ` with the score ${score}`;
  const next = runnerUp === undefined ? "" : `; the next is ${runnerUp.name} with ${runnerUp.score}`;
  const sure = guessed ? `guessed${evidence}: ${reason}${next}` : "as given";
  return [
    ["layout", `${name}: ${bits}, a tick of ${tickMs} ms, epoch ${isoOf(epochMs)}`],
    ...wrapped(sure, "")
      .trimEnd()
      .split("\n")
      .map((part) => ["", part]),
  ];
}

const plural = (number: number, one: string) => `${grouped(number)} ${one}${number === 1 ? "" : "s"}`;

export function screenOf(report: Report, names: readonly string[]): string {
  const { layout, rows, ids, distinct, fromMs, toMs, nodes, days, findings } = report;
  const input = `${names.join(", ")}: ${plural(rows, "row")}, ${plural(ids, "ID")}, ${grouped(distinct)} distinct`;
  const facts = tableText([
    ["input", input],
    ...layoutText(layout),
    ...(fromMs === undefined || toMs === undefined ? [] : [["time", `${isoOf(fromMs)} to ${isoOf(toMs)}`]]),
    ...(nodes.inUse === 0 ? [] : [["node ids", `${grouped(nodes.inUse)} of ${grouped(nodes.of)} in use`]]),
    ...(nodes.inUse === 0 || nodes.top.some(({ hosts }) => hosts?.length)
      ? []
      : [["hosts", "not known: a shared node id can only be inferred. Name their column with --host"]]),
  ]);
  const topNodes = nodes.top
    .slice(0, MAX_NODES)
    .map(
      ({ node, ids, fromMs, toMs, hosts = [] }) =>
        [
          `${node}`,
          ids,
          [`${isoOf(fromMs).slice(0, 16)} to ${isoOf(toMs).slice(0, 16)}`, ...hosts.slice(0, 3)].join(", "),
        ] as const,
    );
  const found = [...new Set(findings.map(({ kind }) => kind))].map((kind) =>
    kindText(
      names,
      findings.filter((finding) => finding.kind === kind),
    ),
  );
  return [
    `${facts}\n`,
    histogram("IDs a day", stretches(days)),
    histogram("The busiest node ids", topNodes),
    findings.length === 0 ? "No findings.\n" : `${plural(findings.length, "finding")}\n${found.join("")}`,
  ]
    .filter((part) => part !== "")
    .join("\n");
}
