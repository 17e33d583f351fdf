/** `npx frazil doctor`: the environment of frazil on this machine, and whether it can mint here. */
import { Snowflake } from "frazil";
import { monotonicClock, wallClock } from "../base/clock.js";
import { layoutOf } from "./chosen-layout.js";
import { type NodeId, nodeOf } from "./chosen-node.js";
import type { Command } from "./command.js";
import { STORES } from "./ddl.js";
import { type BackendReport, backendHere, type Platform, platformHere } from "./doctor-platform.js";
import { checkStateFile, type StateFileReport } from "./doctor-state-file.js";
import type { Flags } from "./flags.js";
import { checkFileFlags } from "./next.js";
import { line, table } from "./output.js";
import { type Refusal, reasonsInShort, refusalOf } from "./refusal.js";
import { version } from "./version.js";

/** The output of `--json`. */
interface Report {
  readonly ok: boolean;
  readonly frazil: string;
  readonly platform: Platform;
  readonly backend: BackendReport;
  readonly clock: { readonly now: string; readonly stepMs: number };
  /** The result of `new Snowflake({ node })`. */
  readonly static: { readonly node: NodeId; readonly refusal?: Refusal };
  /** The result of `Snowflake.local()`. Absent with `--node`. */
  readonly local?: StateFileReport;
}

/**
 * How far the clock is ahead of the monotonic clock, in milliseconds: the maximum of several readings. If the process stops between the two
 * clocks, the second one, which is subtracted, is late.
 */
const ahead = () => Math.max(...Array.from({ length: 5 }, () => wallClock() - monotonicClock()));

/** The drift of the clock from the monotonic clock, from now until the result is called. */
function watchClock(): () => number {
  const before = ahead();
  return () => Math.round(ahead() - before);
}

function reportOf(flags: Flags): Report {
  checkFileFlags(flags);
  const stepMs = watchClock();
  const layout = layoutOf(flags);
  const hasNode = layout.fields.some(({ kind }) => kind === "node");
  const node = flags.node === undefined ? (hasNode ? 0 : "none") : nodeOf(flags.node);
  const backend = backendHere();
  const mint = () => {
    // With its own clock it has its own state, beside that of the file.
    using ids = new Snowflake({ layout, node: node as never, now: wallClock, maxWaitMs: 5000 });
    ids.next();
  };
  const refusal = backend.refusal ?? refusalOf(mint);
  const local = flags.node === undefined ? checkStateFile(flags, layout) : undefined;
  return {
    ok: (local ?? { refusal }).refusal === undefined,
    frazil: version(),
    platform: platformHere(),
    backend,
    clock: { now: new Date(wallClock()).toISOString(), stepMs: stepMs() },
    static: { node, ...(refusal && { refusal }) },
    ...(local && { local }),
  };
}

/** The result of a call. Of equal refusals, which may be long, only the first is printed. */
function outcomes(backend: BackendReport): (refusal: Refusal | undefined) => string {
  const seen = new Set<string>();
  return (refusal) => {
    if (refusal === undefined) return "mints";
    const { code, message, hint } = refusal;
    if (seen.has(message)) return `${code}, as above`;
    seen.add(message);
    const isMissing = code === "NATIVE_REQUIRED" && backend.causes.length > 0;
    const told = hint === undefined ? message : `${message}. ${hint}`;
    return `${code}: ${isMissing ? "needs the addon, or a node id that no other process uses: --node N" : told}`;
  };
}

/** The rows about the state file. */
function fileRows({ directory, path, isThere, file }: StateFileReport): [string, unknown][] {
  const rows: [string, unknown][] = [];
  if (directory !== undefined) rows.push(["  directory", directory]);
  if (path !== undefined) rows.push(["  state file", `${path}${isThere ? "" : " (is made by the first generator)"}`]);
  if (file === undefined) return rows;
  rows.push(["  file system", file.fileSystem]);
  if (!isThere) return rows;
  rows.push(["  ceiling", `${new Date(file.ceilingMs).toISOString()}: no ID from this time on was issued`]);
  if (file.attached !== undefined) {
    const others = file.attached - 1;
    rows.push(["  used by", `${others} other ${others === 1 ? "process" : "processes"}`]);
  }
  if (file.distrustedMs > 0) rows.push(["  clock", `${file.distrustedMs} ms ahead of the time that is trusted`]);
  if (file.blind) rows.push(["  blind", "a directory above it may not be read, so each start waits 3 s"]);
  return rows;
}

function run(flags: Flags): number {
  const report = reportOf(flags);
  const { ok, frazil, platform, backend, clock, static: fixed, local } = report;
  if (flags.json) {
    line(JSON.stringify(report));
    return ok ? 0 : 1;
  }
  const { node, nodeApi, system, libc } = platform;
  const { name, why, addon } = backend;
  const outcomeOf = outcomes(backend);
  const causes = reasonsInShort(backend.causes).map((cause, at) => [at === 0 ? "  causes" : "", cause]);
  table([
    ["frazil", frazil],
    ["Node", `${node}, Node-API ${nodeApi}`],
    ["platform", libc === undefined ? system : `${system}, ${libc}`],
    ["backend", name === undefined ? outcomeOf(backend.refusal) : `${name}${why === undefined ? "" : `: ${why}`}`],
    ...(addon === undefined ? [] : [["  addon", addon]]),
    ...causes,
    ...(backend.remedy === undefined ? [] : [["  remedy", backend.remedy]]),
    ["clock", `${clock.now}${Math.abs(clock.stepMs) < 10 ? "" : `, and stepped by ${clock.stepMs} ms while this ran`}`],
    [`new Snowflake({ node: ${JSON.stringify(fixed.node)} })`, outcomeOf(fixed.refusal)],
    ...(local === undefined ? [] : [["Snowflake.local()", outcomeOf(local.refusal)], ...fileRows(local)]),
    [
      "leases",
      `are seen only by the process that holds one (health().lease). Stores: ${STORES.join(", ")}, durable-object`,
    ],
  ]);
  return ok ? 0 : 1;
}

export const doctor: Command = {
  name: "doctor",
  summary: "whether IDs can be minted here, and what with",
  usage: "",
  examples: [
    ["doctor", "what next does here: the backend, the clock, the state file"],
    ["doctor --node 7", "the same for a node id that you give: no state file"],
  ],
  notes:
    "It prints no ID, and leaves no state file behind. The exit code is 0 if next, with the same options, mints here,\nand 1 if it does not. The store of leases and segments is not looked at.",
  flags: ["node", "dir", "scope", "accept-unproven-platform", "layout", "epoch", "json"],
  run,
};
