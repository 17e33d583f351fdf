// `npm run bench -- growth`: how the cost of IDs grows with threads, with processes and with states. Prints tables, and writes a dated
// record.
//
// Threads and processes live as long as the bench, and mint in slices of time, alone or all at once. The subjects take turns, and a
// ratio is that of one round. Before anything is timed, all of them mint at once what shares a state, and no ID may repeat.
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { Snowflake } from "frazil";
import { cargoBench } from "../../scripts/bench/cargo.mjs";
import { step } from "../../scripts/shell.mjs";
import { conditions, median, progress, quantile, short, table, writeRecord } from "./record.mjs";

const ROUNDS = 15;
const SLICE_MS = 100;
/** The others begin this long after the message. */
const HEAD_START_MS = 4;
const CHECKED = 200_000;
/** WebAssembly keeps its states in a list, so a million would take hours to make. */
const MOST_STATES = { native: 1_000_000, wasm: 10_000 };

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "frazil-growth-"));
if (new Snowflake({ node: 0 }).backend !== "native")
  throw new Error("the addon did not load: WebAssembly shares nothing between threads and processes");

/** A thread or process that mints, and answers each message. */
class Minter {
  constructor(kind, index) {
    const given = { index, dir };
    this.handle =
      kind === "thread"
        ? new Worker(path("growth/minting-main.mjs"), { workerData: given })
        : fork(path("growth/minting-main.mjs"), [JSON.stringify(given)], { serialization: "advanced" });
    this.isThread = kind === "thread";
  }
  async answer() {
    const ended = new AbortController();
    const failed = once(this.handle, "exit", { signal: ended.signal }).then(([code]) => {
      throw new Error(`a ${this.isThread ? "thread" : "process"} that mints ended with code ${code}`);
    });
    try {
      const [answer] = await Promise.race([once(this.handle, "message", { signal: ended.signal }), failed]);
      return answer;
    } finally {
      failed.catch(() => {});
      ended.abort();
    }
  }
  ask(message) {
    const answer = this.answer();
    if (this.isThread) this.handle.postMessage(message);
    else this.handle.send(message);
    return answer;
  }
  end() {
    return this.isThread ? this.handle.terminate() : this.handle.kill();
  }
}

/** Runs the subjects with 1, 2 … minters: for each a list, by round, of the IDs of a millisecond by number of minters. */
async function measure(kind, numbers, subjects) {
  const minters = Array.from({ length: numbers.at(-1) }, (_, index) => new Minter(kind, index));
  await Promise.all(minters.map((minter) => minter.answer()));
  for (const subject of subjects.filter(({ shares }) => shares !== "nothing")) {
    const lists = await Promise.all(minters.map((minter) => minter.ask({ subject, count: CHECKED })));
    const all = lists.flatMap((list) => Array.from(list));
    if (new Set(all).size !== minters.length * CHECKED) throw new Error(`${JSON.stringify(subject)} repeats IDs`);
    for (const list of lists)
      if (list.some((id, at) => at > 0 && id <= list[at - 1]))
        throw new Error(`${JSON.stringify(subject)} is not in order`);
  }
  const rounds = subjects.map(() => []);
  // The first round is for the engine.
  for (let round = -1; round < ROUNDS; round++) {
    for (const [at, subject] of subjects.entries()) {
      const rates = [];
      // Beginning with few and with many in turns: a machine that becomes busy must not count for one of them.
      for (const number of round % 2 ? numbers : numbers.toReversed()) {
        const message = { subject, atMs: Date.now() + HEAD_START_MS, ms: SLICE_MS };
        const answers = await Promise.all(minters.slice(0, number).map((minter) => minter.ask(message)));
        rates[number] = answers.reduce((sum, rate) => sum + rate, 0);
      }
      if (round >= 0) rounds[at].push(rates);
    }
    progress(kind === "thread" ? "threads" : "processes", round + 1, ROUNDS);
  }
  await Promise.all(minters.map((minter) => minter.end()));
  const rows = subjects.map(({ name }, at) => {
    const million = (number) => short(median(rounds[at].map((rates) => rates[number])) / 1000);
    const times = (number) => {
      const ratios = rounds[at].map((rates) => rates[number] / rates[numbers[0]]);
      return `${median(ratios).toFixed(2)} (${quantile(ratios, 0.25).toFixed(2)} to ${quantile(ratios, 0.75).toFixed(2)})`;
    };
    return [name, ...numbers.map(million), ...numbers.slice(1).map(times)];
  });
  const control = median(rounds[0].map((rates) => rates[2] / rates[1]));
  const head = [
    `million IDs a second, by number of ${kind === "thread" ? "threads" : "processes"}`,
    ...numbers,
    ...numbers.slice(1).map((number) => `${number} over ${numbers[0]}`),
  ];
  return { text: table(head, rows), control };
}

/** Below this, two threads that share nothing did not have two cores, and the other rows say nothing about what is shared. */
const LEAST_CONTROL = 1.9;
const busy = (control) =>
  control < LEAST_CONTROL
    ? `\n\n**Two that share nothing minted ${control.toFixed(2)} times as much as one: other programs used the cores, so this table says nothing.**`
    : "";

const clock = { name: "`Date.now()`, nothing shared", shares: "nothing", call: "next" };
const called = (call) => (call === "next" ? "`next()`" : `\`fill\` of ${call.toLocaleString("en")}`);
const each = (shares, calls) => calls.map((call) => ({ name: `${called(call)}, ${shares}`, shares, call }));
const capped = {
  name: "`next()`, default layout (at most 4,096 a ms), one state",
  shares: "default layout",
  call: "next",
};

const rust = await cargoBench("growth", "threads and states in Rust");
const rustControl = Number(/^\| a read of the clock, nothing shared(?: \|[^|]*){3} \| ([\d.]+) /m.exec(rust)[1]);
const threads = await measure(
  "thread",
  [1, 2],
  [clock, ...each("one state", ["next", 64, 1024]), ...each("a state each", ["next", 64, 1024]), capped],
);
const processes = await measure(
  "process",
  [1, 2, 4],
  [clock, ...each("one file", ["next", 64, 1024]), ...each("a state each", ["next", 64, 1024])],
);
rmSync(dir, { recursive: true });

/** The tables of the states of one backend. */
async function states(backend) {
  const args = ["--expose-gc", path("growth/states-main.mjs"), `${MOST_STATES[backend]}`];
  const env = { ...process.env, FRAZIL_BACKEND: backend };
  const { rows, heap, heapMinted, outside, ...found } = await step(`states in JavaScript: ${backend}`, () =>
    JSON.parse(execFileSync(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] })),
  );
  if (found.backend !== backend) throw new Error(`${backend} was asked for, and ${found.backend} is used`);
  const body = rows.map(({ states, openUs, newUs, native }) => [
    states.toLocaleString("en"),
    short(openUs),
    short(newUs),
    // Fewer do not fill pages enough to be measured.
    states < 10_000 ? "-" : Math.round(native / states),
  ]);
  const head = [
    `states, ${backend}`,
    "`new Snowflake` on one that exists, µs",
    "on a new one, µs",
    "bytes a state, outside of the heap",
  ];
  return `${table(head, body)}

A \`Snowflake\` takes ${heap.toFixed(0)} bytes of JavaScript's heap, ${heapMinted.toFixed(0)} after its first ID, and ${outside < 100 ? "nothing" : `${outside.toFixed(0)} bytes`} outside of it if its state has a generator already.`;
}

writeRecord(
  "growth",
  "How cost grows with threads, processes and states",
  `\`npm run bench -- growth\`: ${conditions()}; medians of interleaved rounds, middle half in brackets.

The layouts have 2^23 sequence numbers in a millisecond and more, so that no maximum rate of a layout decides, except in the rows of the default layout.

## Threads in Rust

${rust.replace(/\n(?=\| states)/, `${busy(rustControl)}\n\n## States in Rust\n\n`)}

## Threads in Node

Worker threads with the addon. \`fill\` and blocks go to the core by one call each; \`next()\` reserves blocks of up to 4,096.

${threads.text}${busy(threads.control)}

## Processes

${processes.text}${busy(processes.control)}

## States in Node

${await states("native")}

${await states("wasm")}`,
);
