// `npm run bench -- isolated`: one ID now and then, each in another millisecond, as a server mints one for a request. Frazil on both
// backends beside other packages, in each runtime, behind three workloads (`isolated/workloads.mjs`). Prints ratios, and writes a dated
// record.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { root } from "../../scripts/shell.mjs";
import { tools } from "../../scripts/tools.mjs";
import { WORKLOADS } from "./isolated/workloads.mjs";
import { conditions, median, progress, quantile, table, writeRecord } from "./record.mjs";

/** Each process has other compiled code. */
const PROCESSES = 3;
const RUNTIMES = {
  "Node 20": [process.execPath],
  "Node 22": [tools.node22],
  "Node 24": [tools.node24],
  Bun: [tools.bun],
  Deno: [tools.deno, "run", "-A", "--no-remote"],
};
/** The entry of frazil for Deno has no addon. */
const backendsOf = (runtime) => (runtime === "Deno" ? ["wasm"] : ["native", "wasm"]);
/** The packages that the ratios are to: the faster of the two in the same process. */
const FASTEST = ["@sapphire/snowflake", "snowyflake"];
const program = fileURLToPath(new URL("isolated/subjects-main.mjs", import.meta.url));

/** The backend, and the times of each subject in nanoseconds. */
function measured([command, ...before], backend, workload) {
  const env = { ...process.env, FRAZIL_BACKEND: backend, DENO_DIR: `${root}.cache/deno`, DENO_NO_UPDATE_CHECK: "1" };
  return JSON.parse(execFileSync(command, [...before, program, workload], { env, encoding: "utf8" }));
}

/** The net time of each subject over that of the fastest package. */
function ratiosOf({ times }) {
  const empty = median(times.empty);
  const net = Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all) - empty]));
  const fastest = Math.min(...FASTEST.map((name) => net[name]));
  return Object.fromEntries(Object.entries(net).map(([name, ns]) => [name, ns / fastest]));
}

const sections = [];
const total = Object.keys(RUNTIMES).flatMap(backendsOf).length * Object.keys(WORKLOADS).length * PROCESSES;
let done = 0;
for (const [runtime, command] of Object.entries(RUNTIMES)) {
  /** By subject, and then by column, the ratio of each process. */
  const ratios = {};
  const columns = [];
  for (const backend of backendsOf(runtime))
    for (const workload of Object.keys(WORKLOADS)) {
      const column = `${backend}, ${workload}`;
      columns.push(column);
      for (let process = 0; process < PROCESSES; process++) {
        const result = measured(command, backend, workload);
        if (result.backend !== backend) throw new Error(`${runtime} loaded ${result.backend} in place of ${backend}`);
        for (const [name, ratio] of Object.entries(ratiosOf(result))) {
          ratios[name] ??= {};
          ratios[name][column] ??= [];
          ratios[name][column].push(ratio);
        }
        progress("processes", ++done, total);
      }
    }
  const cell = (all) =>
    all === undefined
      ? ""
      : `${median(all).toFixed(2)} (${quantile(all, 0).toFixed(2)} to ${quantile(all, 1).toFixed(2)})`;
  const rows = Object.entries(ratios).filter(([name]) => name !== "empty");
  const body = rows.map(([name, byColumn]) => [name, ...columns.map((column) => cell(byColumn[column]))]);
  sections.push(`## ${runtime}\n\n${table(["net, of the fastest package", ...columns], body)}`);
}

writeRecord(
  "isolated",
  "One ID now and then",
  `\`npm run bench -- isolated\`: ${conditions()}.

Each call is alone in a new millisecond, in random order with all others of a process, behind a workload: waiting for the clock; what a
request does besides (JSON, a regular expression, a URL, 2 MiB of memory); a timer, and then that. *Net* is the median of a call less the
median of an empty one. The figures are net times, over the net time of the faster of ${FASTEST.map((name) => `\`${name}\``).join(" and ")} in the same process: the
median of ${PROCESSES} processes, and the least and greatest. Below 1 is faster than any other package.

${sections.join("\n\n")}`,
);
