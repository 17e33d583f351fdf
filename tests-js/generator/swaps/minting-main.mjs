// A program of `swaps.test.mjs`: threads, or processes, that mint from one word. Its arguments are the kind, how many IDs each of them
// mints, and of `local` the folder. It prints what happened, as JSON. In a folder with a copy of the package it tests that copy.
import { fork } from "node:child_process";
import { once } from "node:events";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { Snowflake } from "frazil";

const MINTERS = 3;
const [kind, count, dir] = process.argv.slice(2);
const OPTIONS = { dir, acceptUnprovenPlatform: true };

/** How often the core was called to mint. */
let called = 0;
const { calls } = Snowflake.port().binding;
for (const name of ["next", "reserve"]) {
  const call = calls[name];
  calls[name] = (...given) => {
    called++;
    return call(...given);
  };
}

/** Mints, and returns the IDs, and how many reservations took no call of the core at least. */
function mint(ids, next = ids.next) {
  const issued = Array.from({ length: Number(count) }, next);
  return { issued: issued.map(String), swapped: Math.max(0, ids.stats().reservations - called) };
}

/** A clock that all threads move on, a tick for each four readings: they meet in every tick. */
function sharedClock(readings, start) {
  Date.now = () => start + Math.floor(Atomics.add(readings, 0, 1) / 4);
}

/** What all minters issued together. */
function report(answers) {
  const all = answers.flatMap(({ issued }) => issued);
  const swapped = answers.reduce((sum, answer) => sum + answer.swapped, 0);
  return { count: all.length, swapped, repeats: all.length - new Set(all).size };
}

async function inThreads() {
  const readings = new Int32Array(new SharedArrayBuffer(4));
  const start = Date.now() + 60_000;
  const workers = Array.from(
    { length: MINTERS },
    () => new Worker(new URL(import.meta.url), { argv: process.argv.slice(2), workerData: { readings, start } }),
  );
  return report((await Promise.all(workers.map((worker) => once(worker, "message")))).flat());
}

/** A worker that is ended in the middle of minting, again and again, beside one that goes on. */
async function endedThreads() {
  const readings = new Int32Array(new SharedArrayBuffer(4));
  const start = Date.now() + 60_000;
  const ids = new Snowflake({ node: 7, maxLeadMs: 1000 });
  sharedClock(readings, start);
  const issued = new Set();
  let seen = 0;
  const take = (id) => {
    seen++;
    issued.add(id);
  };
  for (let round = 0; round < 10; round++) {
    const taken = new BigUint64Array(new SharedArrayBuffer(8 * Number(count)));
    const worker = new Worker(new URL(import.meta.url), {
      argv: process.argv.slice(2),
      workerData: { readings, start, taken },
    });
    while (Atomics.load(taken, round) === 0n) {
      take(ids.next());
      await null;
      await new Promise(setImmediate);
    }
    await worker.terminate();
    for (const id of taken) if (id !== 0n) take(id);
    take(ids.next());
  }
  return { count: seen, repeats: seen - issued.size };
}

async function inProcesses() {
  // The file exists, and its wait is over.
  Snowflake.local(OPTIONS).close();
  // In an emulator, Node cannot start itself.
  const [execPath, ...execArgv] = JSON.parse(process.env.FRAZIL_TEST_NODE);
  const args = [...process.argv.slice(2), "child"];
  const children = Array.from({ length: MINTERS }, () => fork(process.argv[1], args, { execPath, execArgv }));
  await Promise.all(children.map((child) => once(child, "message")));
  const answers = children.map((child) => once(child, "message"));
  for (const child of children) child.send("go");
  return report((await Promise.all(answers)).map(([answer]) => answer));
}

/** One ID each time the clock moves on: all processes meet at the start of a millisecond. */
function onTheEdge(ids) {
  let shown = Date.now();
  return mint(ids, () => {
    while (Date.now() === shown);
    shown = Date.now();
    return ids.next();
  });
}

if (!isMainThread) {
  const { readings, start, taken } = workerData;
  const ids = new Snowflake({ node: 7, maxLeadMs: 1000 });
  sharedClock(readings, start);
  if (taken) for (let at = 0; at < taken.length; at++) Atomics.store(taken, at, ids.next());
  else parentPort.postMessage(mint(ids));
} else if (process.argv[5] === "child") {
  const ids = Snowflake.local(OPTIONS);
  process.once("message", () => process.send(onTheEdge(ids), () => process.exit()));
  process.send("open");
} else {
  const kinds = { threads: inThreads, ended: endedThreads, processes: inProcesses };
  process.stdout.write(JSON.stringify(await kinds[kind]()));
}
