// Files of incidents, in each format that the audit reads.
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const PIECE_BYTES = 2 ** 20;
const EXTENSIONS = { lines: "txt", csv: "csv", ndjson: "ndjson", raw: "u64" };

/** Times as a program, as Postgres without a zone, and as a column of numbers has them. */
const TIME_TEXTS = {
  iso: (ms) => new Date(ms).toISOString(),
  postgres: (ms) => new Date(ms).toISOString().replace("T", " ").slice(0, -1),
  ms: (ms) => `${ms}`,
};

/** The text of a row, by its place. */
function rowText({ rows, columns, format, hosts, timeText = "iso" }) {
  const cells = {
    id: (at) => `${rows.ids[at]}`,
    host: (at) => hosts[rows.hosts[at]],
    created_at: (at) => TIME_TEXTS[timeText](rows.writtenMs[at]),
  };
  const of = columns.map((name) => cells[name]);
  if (format !== "ndjson") return (at) => `${of.map((cell) => cell(at)).join(",")}\n`;
  return (at) => `{${of.map((cell, column) => `"${columns[column]}":"${cell(at)}"`).join(",")}}\n`;
}

/** The pieces of the file of an incident. `otherLines`: lines that stand before the row of that place. */
function* piecesOf(incident) {
  const { rows, columns, format, otherLines = new Map() } = incident;
  if (format === "raw") {
    for (let at = 0; at < rows.length; at += PIECE_BYTES / 8)
      yield Buffer.from(rows.ids.slice(at, Math.min(rows.length, at + PIECE_BYTES / 8)).buffer);
    return;
  }
  const textOf = rowText(incident);
  let text = format === "csv" ? `${columns.join(",")}\n` : "";
  for (let at = 0; at < rows.length; at++) {
    if (otherLines.has(at)) text += `${otherLines.get(at)}\n`;
    text += textOf(at);
    if (text.length < PIECE_BYTES) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(text);
}

/** Writes the file of an incident into a folder, with gzip if `gzip`, and returns its path. */
export function writeIncident(incident, folder, { gzip = false } = {}) {
  const path = join(folder, `ids.${EXTENSIONS[incident.format]}${gzip ? ".gz" : ""}`);
  const file = openSync(path, "w");
  for (const piece of piecesOf(incident)) writeSync(file, gzip ? gzipSync(piece, { level: 1 }) : piece);
  closeSync(file);
  return path;
}

/** Runs a function with the path of a new folder, which it removes afterwards. */
export async function withFolder(run) {
  const folder = mkdtempSync(join(tmpdir(), "frazil-audit-"));
  try {
    return await run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
