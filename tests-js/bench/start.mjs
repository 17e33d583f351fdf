// `npm run bench -- start`: what frazil adds to the start of a process until its first ID, in each version of Node: loading it, the first
// generator with its first ID, and the processor time beyond a process that does neither. Interleaved. Writes a dated record.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { tools } from "../../scripts/tools.mjs";
import { conditions, median, progress, spread, table, writeRecord } from "./record.mjs";

const ROUNDS = 60;
const RUNTIMES = { "Node 20": process.execPath, "Node 22": tools.node22, "Node 24": tools.node24 };
const program = fileURLToPath(new URL("start-main.mjs", import.meta.url));

function measured(node, how, backend) {
  const env = { ...process.env, FRAZIL_BACKEND: backend };
  const parts = JSON.parse(execFileSync(node, [program, how], { env, encoding: "utf8" }));
  if (how !== "none" && parts.backend !== backend) throw new Error(`${node} loaded ${parts.backend}, not ${backend}`);
  return parts;
}

const subjects = Object.entries(RUNTIMES).flatMap(([runtime, node]) => [
  { runtime, node, how: "none", backend: "native", all: [] },
  ...["import", "require"].flatMap((how) =>
    ["native", "wasm"].map((backend) => ({ runtime, node, how, backend, all: [] })),
  ),
]);
for (let round = 0; round < ROUNDS; round++) {
  const order = subjects.map((subject) => [Math.random(), subject]).sort(([a], [b]) => a - b);
  for (const [, { node, how, backend, all }] of order) all.push(measured(node, how, backend));
  progress("rounds", round + 1, ROUNDS);
}
const rows = subjects
  .filter(({ how }) => how !== "none")
  .map(({ runtime, how, backend, all }) => {
    const alone = subjects.find((subject) => subject.runtime === runtime && subject.how === "none");
    const aloneMs = median(alone.all.map(({ processor }) => processor));
    const column = (name, lessMs = 0) => spread(all.map(({ [name]: ms }) => ms - lessMs));
    return [`${runtime}, ${how}, ${backend}`, column("load"), column("first"), column("processor", aloneMs)];
  });
const head = ["", "loading frazil", "first generator and ID", "processor time over Node alone"];
writeRecord(
  "start",
  "The start of a process",
  `\`npm run bench -- start\`. Milliseconds: medians of ${ROUNDS} processes each, interleaved, and in brackets their middle half.\n\n${table(head, rows)}\n\n${conditions()}.`,
);
