// `npm run bench -- refusals`: what a refused call costs, as a multiple of a plain `throw` of a subclass of `Error`, in Node
// with the addon, in Node with WebAssembly, and in workerd. Prints the ratios with their spread, and writes a dated record.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { WorkerServer } from "../stores/workerd/server.mjs";
import { conditions, median, progress, quantile, writeRecord } from "./record.mjs";

/** Each has other compiled code. */
const PROCESSES = 3;
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const workerd = createRequire(createRequire(import.meta.url).resolve("miniflare"))("workerd/package.json").version;

/** With `--single-threaded` V8 compiles and collects on the thread that is measured, and not on those that wait for a core. */
const inNode = (backend) => async () => {
  const env = { ...process.env, FRAZIL_BACKEND: backend };
  return JSON.parse(execFileSync(process.execPath, ["--single-threaded", path("refusals/node-main.mjs")], { env }));
};

/** How long a process was on a core until now, in nanoseconds: the sum over its threads. */
function cpuNs(pid) {
  const tasks = readdirSync(`/proc/${pid}/task`);
  return tasks.reduce(
    (sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]),
    0,
  );
}

const [ROUNDS, WARM_UP, CALLS] = [30, 8, 3000];
/** Each slice is a request. Its time is that of the processor, since the clocks of workerd show whole milliseconds. */
async function inWorkerd() {
  process.env.MINIFLARE_WORKERD_V8_FLAGS = "--single-threaded";
  const server = await WorkerServer.startWith(path("refusals/worker.mjs"), {});
  const request = async (given) => {
    const response = await fetch(`${server.url}?${new URLSearchParams(given)}`);
    if (!response.ok) throw new Error(await response.text());
    return response;
  };
  const timeOf = async (given) => {
    const before = cpuNs(server.pid);
    await request(given);
    return cpuNs(server.pid) - before;
  };
  try {
    const names = await (await request({})).json();
    const times = { full: {}, short: {} };
    for (const [stack, ofStack] of Object.entries(times)) {
      for (let round = -WARM_UP; round < ROUNDS; round++) {
        const requestNs = await timeOf({ name: names[0], stack, count: 1 });
        for (const name of names) {
          const ns = (await timeOf({ name, stack, count: CALLS })) - requestNs;
          ofStack[name] ??= [];
          if (round >= 0) ofStack[name].push(ns / CALLS);
        }
      }
    }
    return times;
  } finally {
    await server.stop();
  }
}

const HOSTS = {
  [`Node ${process.versions.node}, native`]: inNode("native"),
  [`Node ${process.versions.node}, wasm`]: inNode("wasm"),
  [`workerd ${workerd}`]: inWorkerd,
};

const ratiosOf = (runs, depth, name) =>
  runs.flatMap(({ [depth]: times }) => times[name].map((ns, round) => ns / times["a plain throw"][round]));

const measured = {};
const hosts = Object.entries(HOSTS);
for (let at = 0; at < PROCESSES * hosts.length; at++) {
  const [host, start] = hosts[at % hosts.length];
  measured[host] ??= [];
  measured[host].push(await start());
  progress("process", at + 1, PROCESSES * hosts.length);
}

const tables = Object.entries(measured).map(([host, runs]) => {
  const rows = Object.keys(runs[0].full).map((name) => {
    const cells = ["full", "short"].map((depth) => {
      const ratios = ratiosOf(runs, depth, name);
      const [low, middle, high] = [0.25, 0.5, 0.75].map((q) => quantile(ratios, q).toFixed(2));
      return `${middle} | ${low} to ${high}`;
    });
    return `| ${name.replace(/, ([A-Z_]+)$/, ", `$1`")} | ${cells.join(" | ")} |`;
  });
  const plainNs = ["full", "short"].map((depth) =>
    median(runs.flatMap((run) => run[depth]["a plain throw"])).toFixed(0),
  );
  return `## ${host}

A plain throw takes ${plainNs[0]} ns with a full stack and ${plainNs[1]} ns with a short one.

| call | full stack | middle half | short stack | middle half |
|---|---|---|---|---|
${rows.join("\n")}
`;
});

writeRecord(
  "refusals",
  "Refusals",
  `\`npm run bench -- refusals\`: ${conditions()}; ${PROCESSES} processes of each host in turns. What is compared:
[benchmarks](../benchmarks.md#refusals).

${tables.join("\n")}`,
);
