// Eight processes draw numbers of a hundred tags from a real store, under faults. They are killed, closed, stopped for longer than an
// attempt may take, cut off from the store, and lose answers. The store is stopped and crashes. The test counts repeats among the numbers
// that they wrote, and looks for the owner of every number that was not drawn.
//
// FRAZIL_SEGMENTS_STORE is the store: postgres if it is not set, mysql or redis.
// FRAZIL_SEGMENTS_S is the duration of the faults.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { countIds } from "../../local/count-repeats.mjs";
import { randomNumbers } from "../../local/minting-process.mjs";
import { laterWork } from "../../processes/later.mjs";
import { serverModule } from "../../stores/kit/all-stores.mjs";
import { startProxy } from "../../stores/kit/cut-proxy.mjs";
import { problemsOf } from "./drawn-numbers.mjs";

const SECONDS = Number(process.env.FRAZIL_SEGMENTS_S ?? 18);
const STORE = process.env.FRAZIL_SEGMENTS_STORE ?? "postgres";
const PROCESSES = 8;
const STEP = 20;
const BATCH = 15;
/** More ranges than are lost between two skips. */
const FAILOVER_SKIP = 10_000;

const program = fileURLToPath(new URL("drawing-main.mjs", import.meta.url));
const module = serverModule(STORE);
const { startServer, connectStore } = await import(module);

let server;
before(async () => {
  server = await startServer();
});
after(() => server?.crash());

/** The recent allocations in the text of a record. */
const recentOf = (text) =>
  JSON.parse(text).map(([holder, attempt, first, count]) => ({ holder, attempt, first: BigInt(first), count }));

/** Reads the record of a tag. */
const READERS = {
  postgres: async (tag) => {
    const [row] = await server.query("SELECT next_number AS next, recent FROM frazil_segments WHERE tag = $1", [tag]);
    return row;
  },
  mysql: async (tag) => {
    const text = "SELECT CAST(next_number AS CHAR) AS next, recent FROM frazil_segments WHERE tag = ?";
    const [row] = await server.query(text, [tag], "test");
    return row;
  },
  redis: async (tag) => {
    const [[next, recent]] = await server.commands(["HMGET", `frazil:segment:${tag}`, "next", "recent"]);
    return { next, recent };
  },
};

/** A process that draws, behind a proxy. */
async function startProcess(folder, task, number) {
  const proxy = await startProxy(server.port);
  const gaveUp = [];
  let lives = 0;
  let child;
  let ended;
  let isEnding = false;
  const start = () => {
    const life = `${number}-${++lives}`;
    const given = { ...task, out: folder, life, store: { ...task.store, address: proxy.port } };
    child = spawn(process.execPath, [program, JSON.stringify(given)], { stdio: ["ignore", "ignore", "pipe"] });
    let errors = "";
    child.stderr.on("data", (chunk) => {
      errors += chunk;
    });
    ended = once(child, "close").then(([status]) => {
      if (status !== null && status !== 0) gaveUp.push(errors || `exit code ${status}`);
    });
  };
  start();
  /** Ends it by a signal, in an orderly way or not. */
  const end = async (signal) => {
    child.kill(signal);
    child.kill("SIGCONT");
    // A process that waits for a store that is away ends in an orderly way all the same.
    await ended;
  };
  return {
    proxy,
    gaveUp,
    signal: (name) => child.kill(name),
    async restart(signal) {
      await end(signal);
      if (!isEnding) start();
    },
    async end() {
      isEnding = true;
      await end("SIGTERM");
      proxy.close();
    },
  };
}

/** The faults, each with its share. Each begins now, and ends by itself or by `later`. */
const FAULTS = {
  killed: [6, ({ one }) => one.restart("SIGKILL")],
  closed: [2, ({ one }) => one.restart("SIGTERM")],
  stopped: [
    2,
    ({ one, random, later }) => {
      one.signal("SIGSTOP");
      later(5000 * random(), () => one.signal("SIGCONT"));
    },
  ],
  "cut off": [
    3,
    ({ one, random, later }) => {
      one.proxy.cut();
      const lose = random() < 0.5;
      later(5000 * random(), () => one.proxy.heal({ lose }));
    },
  ],
  "answer lost": [8, ({ one }) => one.proxy.loseReply()],
  "store stopped": [
    1,
    async ({ random }) => {
      server.signal("SIGSTOP");
      await sleep(3500 * random());
      server.signal("SIGCONT");
    },
  ],
  "store crashed": [
    4,
    async () => {
      await server.crash();
      await server.start();
    },
  ],
};

/** Lets processes draw for so long, and until it is enough, under some of the faults. */
async function run({
  seconds = 0,
  isEnough = () => true,
  tags,
  faults = Object.keys(FAULTS),
  everyMs = 200,
  seed = 20261122,
  ...broken
}) {
  const { store, close } = await connectStore(server.port);
  await store.migrate?.();
  if (STORE === "postgres") await server.query("DELETE FROM frazil_segments");
  for (let tag = 0; tag < tags; tag++) await store.initSegment({ tag: `tag-${tag}` });
  await close();
  const folder = mkdtempSync(join(tmpdir(), "frazil-segments-"));
  const random = randomNumbers(seed);
  const task = {
    store: { module, ...broken },
    ...{ tags, step: STEP, failoverSkip: FAILOVER_SKIP, batch: BATCH, pauseMs: 5 },
  };
  const drawn = faults.flatMap((name) => Array(FAULTS[name][0]).fill(name));
  const struck = {};
  const { later, allDone } = laterWork();
  const starts = Array.from({ length: PROCESSES }, (_, number) => startProcess(folder, task, number));
  const processes = await Promise.all(starts);
  let before;
  try {
    while (countIds(folder).issued < 100 * PROCESSES) await sleep(50);
    const until = performance.now() + 1000 * seconds;
    const lostReplies = () => processes.reduce((sum, { proxy }) => sum + proxy.lostReplies, 0);
    while (performance.now() < until || !isEnough({ folder, lostReplies: lostReplies() })) {
      await sleep(2 * everyMs * random());
      const name = drawn[Math.floor(drawn.length * random())];
      struck[name] = (struck[name] ?? 0) + 1;
      await FAULTS[name][1]({ one: processes[Math.floor(PROCESSES * random())], random, later });
    }
    await allDone();
    before = countIds(folder).issued;
    while (countIds(folder).issued - before <= 100 * PROCESSES) await sleep(200);
  } finally {
    await Promise.all(processes.map((each) => each.end()));
  }
  const records = new Map();
  for (let at = 0; at < tags; at++) {
    const { next, recent } = await READERS[STORE](`tag-${at}`);
    records.set(`tag-${at}`, { next: BigInt(next), recent: recentOf(recent) });
  }
  // Each start of Redis is another server to its store. So is none of the others.
  const skips = STORE === "redis" ? (struck["store crashed"] ?? 0) : 0;
  const counted = countIds(folder);
  const found = problemsOf(folder, { records, step: STEP, batch: BATCH, failoverSkip: FAILOVER_SKIP, skips });
  rmSync(folder, { recursive: true, force: true });
  const gaveUp = processes.flatMap((each) => each.gaveUp);
  return { ...counted, ...found, struck, gaveUp, after: counted.issued - before };
}

/** A run in a sentence. */
const shown = ({ issued, lives, ranges, unused, lostWithTheAnswer, skipped, struck }) => {
  const faults = Object.entries(struck).map(([name, count]) => `${name} ${count}`);
  const holes = `${unused} left by processes that ended, ${lostWithTheAnswer} ranges whose process ended before the answer`;
  return `${issued} numbers in ${ranges} ranges of ${lives} processes; ${holes}, ${skipped} skips; ${faults.join(", ")}`;
};

// docs/internals/claims.md: 28
test(`${STORE}: processes under faults repeat no number of 100 tags, and every hole is theirs, for ${SECONDS} s`, async (t) => {
  // As many lives have written a number, so that they count.
  const livesIn = (folder) => readdirSync(folder).filter((name) => name.endsWith(".ids")).length;
  const isEnough = ({ folder }) => livesIn(folder) > PROCESSES + SECONDS / 4;
  const found = await run({ seconds: SECONDS, isEnough, tags: 100 });
  t.diagnostic(shown(found));
  assert.deepEqual(found.gaveUp, []);
  assert.equal(found.repeats, 0);
  assert.deepEqual(found.problems, []);
  assert.ok(found.after > 100 * PROCESSES, `${found.after} numbers after the faults`);
  assert.ok(found.lives > PROCESSES + SECONDS / 4, `${found.lives} processes`);
});

if (STORE === "postgres") {
  const broken = fileURLToPath(new URL("broken-postgres.mjs", import.meta.url));

  test("the checker catches a store that forgets attempts", async (t) => {
    const faults = ["answer lost"];
    // Nobody has the range whose answer was lost.
    const isEnough = ({ lostReplies }) => lostReplies >= 100;
    const found = await run({ isEnough, tags: 20, faults, everyMs: 12, module: broken, defect: "forgets attempts" });
    t.diagnostic(`${shown(found)}: ${found.problems.length} problems, such as ${found.problems[0]}`);
    assert.equal(found.repeats, 0);
    assert.ok(
      found.problems.some((problem) => /belong to nobody/.test(problem)),
      found.problems.join("\n"),
    );
  });

  test("the checker catches a store that replaces blindly", async (t) => {
    const isEnough = ({ folder }) => countIds(folder).repeats > 0;
    const found = await run({ isEnough, tags: 4, faults: ["killed"], module: broken, defect: "replaces blindly" });
    t.diagnostic(`${found.issued} numbers, ${found.repeats} repeats`);
    assert.ok(found.repeats > 0);
  });
}
