/** `npx frazil audit`: what is wrong with IDs of any generator. */
import { FrazilError } from "frazil";
import { wallClock } from "../../base/clock.js";
import { show } from "../../base/errors.js";
import { layoutOf } from "../chosen-layout.js";
import type { Command } from "../command.js";
import { type Flags, given } from "../flags.js";
import { needsId, readsLines } from "../input.js";
import { failWith, line, print, printable } from "../output.js";
import { Progress } from "../progress.js";
import { toldOf } from "../refusal.js";
import { anyMs } from "../times.js";
import { UsageError } from "../usage-error.js";
import { type Engine, type EngineOptions, startAudit } from "./engine.js";
import { piecesOf, type Source, sourceOf, standardInput } from "./input.js";
import type { Report } from "./report.js";
import { fixReport } from "./rows.js";
import { screenOf } from "./screen.js";

const READER = { command: "audit", example: "audit ids.txt", reads: "IDs" };
const FORMATS = ["lines", "csv", "ndjson", "raw"];
const UNITS = "KMG";
/** What people look at, and what a program does. */
const [MAX_ROWS, MAX_FIX_ROWS] = [20, 1000];
/** How many IDs are merged between two looks at the clock. */
const MERGE_STEP = 1_000_000;

/** A size in bytes, such as `256M`. */
function bytesOf(text: string): number {
  const [, digits, unit = ""] = /^(\d{1,6})([KMG])(?:i?B)?$/i.exec(text) ?? [];
  if (digits === undefined) throw new UsageError(`--memory must be a size, such as 256M or 2G, got ${show(text)}`);
  return Number(digits) * 1024 ** (UNITS.indexOf(unit.toUpperCase()) + 1);
}

function optionsOf(flags: Flags): EngineOptions {
  const { layout, epoch, format, id, host, "created-at": createdAt, memory = "256M", now = "now" } = flags;
  if (format !== undefined && !FORMATS.includes(format))
    throw new UsageError(`--format must be one of ${FORMATS.join(", ")}, got ${show(format)}`);
  const isGiven = layout !== undefined || epoch !== undefined;
  return given<EngineOptions>({
    layout: isGiven ? layoutOf(flags) : undefined,
    layoutName: isGiven && epoch === undefined && !layout?.startsWith("{") ? layout : undefined,
    format,
    id,
    host,
    createdAt,
    memoryBytes: bytesOf(memory),
    nowMs: now === "now" ? wallClock() : anyMs("now", now),
    maxRows: flags["fix-report"] ? MAX_FIX_ROWS : MAX_ROWS,
  });
}

function sourcesOf(flags: Flags, paths: readonly string[]): Source[] {
  const sources = readsLines(READER, flags, paths) ? [standardInput()] : paths.map(sourceOf);
  const pipe = sources.find(({ isFile }) => !isFile);
  if (flags["fix-report"] && pipe !== undefined)
    throw new UsageError(
      `--fix-report reads the input twice, and ${pipe.name} is not a file\nnpx frazil audit FILE --fix-report`,
    );
  return sources;
}

/** Calls with a display of the progress. */
async function shown<T>(call: (progress: Progress) => Promise<T>): Promise<T> {
  const progress = new Progress(process.stderr.isTTY);
  try {
    return await call(progress);
  } finally {
    progress.clear();
  }
}

/** Reads all sources. */
async function readAll(engine: Engine, sources: readonly Source[], progress: Progress): Promise<void> {
  const bytes = sources.reduce((all, source) => all + (source.bytes ?? Number.NaN), 0);
  let [seen, read] = [0, 0];
  const see = (length: number) => {
    seen += length;
  };
  for (const source of sources) {
    for await (const piece of piecesOf(source, see)) {
      engine.push(piece);
      read += piece.length;
      progress.show(Math.floor(read / 1e6), "MB", seen / bytes);
    }
    engine.endFile();
  }
}

/** The report, with the lines of the rows if they are wanted. `isAsked`: whether an argument names the input. */
async function reportOf(flags: Flags, sources: readonly Source[], isAsked: boolean): Promise<string> {
  const options = optionsOf(flags);
  const engine = startAudit(
    options,
    sources.map(({ name }) => name),
  );
  const read = () => shown((progress) => readAll(engine, sources, progress));
  await read();
  const rows = engine.rows();
  // A person may have forgotten the file.
  if (rows === 0 && !isAsked) throw needsId(READER);
  await shown(async (progress) => {
    for (let merged = 0, isDone = false; !isDone; merged += MERGE_STEP) {
      isDone = engine.merge(MERGE_STEP);
      progress.show(merged, "IDs merged", merged / rows);
    }
  });
  if (flags["fix-report"]) {
    engine.locate();
    await read();
  }
  return engine.report();
}

/** A refusal, as an input that cannot be read: the exit code 1 is for findings. */
function asUsage(error: unknown): unknown {
  if (!FrazilError.is(error)) return error;
  const { message, hint = "" } = toldOf(error);
  return new UsageError(`${error.code}: ${message}\n${hint}`);
}

async function run(flags: Flags, paths: readonly string[]): Promise<number> {
  failWith(2);
  try {
    const sources = sourcesOf(flags, paths);
    const names = sources.map(({ name }) => name);
    const report = JSON.parse(await reportOf(flags, sources, paths.length > 0)) as Report;
    if (flags.json) {
      const nameOf = (row: { file?: number }) => (row.file === undefined ? row : { ...row, file: names[row.file] });
      const findings = report.findings.map((finding) => ({ ...finding, rows: finding.rows.map(nameOf) }));
      await print(`${JSON.stringify({ ...report, findings })}\n`);
    } else if (flags["fix-report"]) for (const row of fixReport(report, names)) line(row);
    else await print(printable(screenOf(report, names)));
    return report.findings.some(({ certainty }) => certainty !== "informational") ? 1 : 0;
  } catch (error) {
    throw asUsage(error);
  }
}

export const audit: Command = {
  name: "audit",
  summary: "what is wrong with IDs of any generator: repeats, shared node ids, clocks, rounding",
  usage: "[FILE … | -]",
  examples: [
    ["audit ids.txt", "one ID a line, CSV or NDJSON, also as gzip"],
    ["audit orders.csv --host server --layout twitter", "also node ids that two servers share"],
    ["audit orders.csv --fix-report", "the rows to look at, with their lines"],
  ],
  notes: `Without a file, or with -, it reads standard input. Memory is bounded: what does not fit goes to temporary files in\n$TMPDIR, of which nothing is left. The exit code is 0 without findings, 1 with some, and 2 if the input cannot be read.\nWithout --layout it is guessed, and the report says why.`,
  flags: ["layout", "epoch", "format", "id", "host", "created-at", "memory", "now", "fix-report", "json"],
  meanings: {
    layout: ["NAME", "a name (npx frazil layouts), or a layout of your own as JSON (default: guessed)"],
    json: ["", "print the report as JSON, for programs; IDs are text"],
  },
  takesArguments: true,
  run,
};
