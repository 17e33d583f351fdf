// A fleet of processes of both generations, which are stopped, killed, restarted, and have their clocks set, and that write their
// IDs to files.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { tools } from "../../../scripts/tools.mjs";
import { countIds } from "../../local/count-repeats.mjs";
import { randomNumbers } from "../../local/minting-process.mjs";
import { laterWork } from "../../processes/later.mjs";
import { faketimeClock } from "../../processes/movable-clock.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** A process of either generation. `taskOf`: its task for the nth start. */
export class Member {
  #starts = 0;
  #isEnding = false;
  gaveUp = [];

  constructor(program, taskOf, env = {}) {
    Object.assign(this, { program, taskOf, env });
    this.#start();
  }

  #start() {
    const task = JSON.stringify(this.taskOf(this.#starts++));
    const child = spawn(process.execPath, [here(this.program), task], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, ...this.env },
    });
    let errors = "";
    child.stderr.on("data", (chunk) => {
      errors += chunk;
    });
    this.child = child;
    this.ended = once(child, "close").then(([status]) => {
      if (status !== null && status !== 0) this.gaveUp.push(errors || `exit code ${status}`);
    });
  }

  signal(name) {
    this.child.kill(name);
  }

  /** Ends it by a signal, and starts another process in its place. */
  async restart(signal = "SIGKILL") {
    this.child.kill("SIGCONT");
    this.child.kill(signal);
    await this.ended;
    if (!this.#isEnding) this.#start();
  }

  async end() {
    this.#isEnding = true;
    this.child.kill("SIGCONT");
    this.child.kill("SIGKILL");
    await this.ended;
  }
}

/** A process of Frazil under leases of a MySqlStore, with its own clock. */
function newGeneration({ url, broken, ...task }) {
  const clock = faketimeClock({ library: tools.faketime });
  const store = { module: new URL("mysql-store.mjs", import.meta.url).href, address: { url, broken } };
  const taskOf = () => ({ ...task, store, prefix: "frazil-", keepsMs: [3000, 12_000] });
  return Object.assign(new Member("../../processes/minting-main.mjs", taskOf, clock.env), { clock });
}

/**
 * Lets a fleet mint for so long, and until `isEnough(counted)`, and counts. `java`: { program, processes, taskOf, endings }: the signals
 * that end one of its processes. `frazil`: { processes, task }. One process after the other is struck.
 * `onlyOld`: only those of the old generation.
 */
export async function runFleet({ seconds = 0, isEnough = () => true, java, frazil, onlyOld = false, seed = 20261122 }) {
  const out = mkdtempSync(join(tmpdir(), "frazil-migrating-"));
  const random = randomNumbers(seed);
  const struck = {};
  const count = (name) => {
    struck[name] = (struck[name] ?? 0) + 1;
  };
  const pick = (list) => list[Math.floor(list.length * random())];
  const common = { out, batch: 100, pauseMs: 5 };
  const olds = Array.from(
    { length: java.processes },
    (_, at) => new Member(java.program, (starts) => ({ ...common, ...java.taskOf(at, starts) })),
  );
  const news = Array.from({ length: frazil.processes }, () => newGeneration({ ...common, ...frazil.task }));
  const gaveUp = () => [...olds, ...news].flatMap((member) => member.gaveUp);
  const { later, allDone } = laterWork();
  const strikeOld = () => {
    const signal = pick(java.endings);
    count(`old ${signal}`);
    return pick(olds).restart(signal);
  };
  const faults = [
    () => {
      const member = pick(news);
      count("stopped");
      member.signal("SIGSTOP");
      later(frazil.task.windowMs * 3 * random(), () => member.signal("SIGCONT"));
    },
    () => {
      count("killed");
      return pick(news).restart();
    },
    () => {
      count("clock set");
      pick(news).clock.set(40_000 * random() - 20_000);
    },
    strikeOld,
  ];
  try {
    // Both generations mint before the first fault.
    const minting = () =>
      readdirSync(out).filter((name) => name.endsWith(".ids") && statSync(join(out, name)).size > 0).length;
    while (minting() < olds.length + news.length) {
      if (gaveUp().length > 0) throw new Error(gaveUp().join("\n"));
      await sleep(50);
    }
    const until = performance.now() + 1000 * seconds;
    while (performance.now() < until || !isEnough({ ...counted(out), struck })) {
      await sleep(200 + 500 * random());
      await pick(onlyOld ? [strikeOld] : faults)();
    }
    await allDone();
  } finally {
    await Promise.all([...olds, ...news].map((member) => member.end()));
  }
  const result = { ...counted(out), struck, gaveUp: gaveUp() };
  rmSync(out, { recursive: true, force: true });
  return result;
}

/** The IDs in a folder: how many, how many of them repeat another, and how many each generation has. */
function counted(out) {
  const files = readdirSync(out).filter((name) => name.endsWith(".ids"));
  const bytes = (prefix) =>
    files.filter((name) => name.startsWith(prefix)).reduce((sum, name) => sum + statSync(join(out, name)).size, 0);
  return { ...countIds(out), old: bytes("java-") / 8, new: bytes("frazil-") / 8 };
}

/** A broken variant runs until this. */
export const hasRepeated = ({ repeats }) => repeats > 0;

export const shown = ({ issued, old, new: fresh, repeats, struck }) =>
  `${issued} IDs (${old} of the old generation, ${fresh} of the new one), ${repeats} repeats; ${Object.entries(struck)
    .map(([name, times]) => `${name} ${times}`)
    .join(", ")}`;
