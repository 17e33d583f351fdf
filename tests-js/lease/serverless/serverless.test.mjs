// Function instances that are frozen between invocations, with a real Postgres: each invocation gets its IDs, and none repeats.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { PostgresStore } from "frazil/stores/postgres";
import pg from "pg";
import { countIds } from "../../local/count-repeats.mjs";
import { randomNumbers } from "../../local/minting-process.mjs";
import { startProxy } from "../../stores/kit/cut-proxy.mjs";
import { PostgresServer } from "../../stores/postgres/server.mjs";

const program = fileURLToPath(new URL("instance-main.mjs", import.meta.url));
const WINDOW_MS = 2000;
/** The longest that a scope allows. */
const LONG_WINDOW_MS = 60_000;
/** For how long an invocation waits for its IDs: for as long as the suite may last, since a busy machine is no failure. */
const MAX_ASYNC_WAIT_MS = 600_000;
/** The pool of the documented recipe: no connection outlives the statement it was opened for. */
const RECIPE = { max: 2, maxUses: 1, connectionTimeoutMillis: 1000, query_timeout: 1000 };
/** A pool that keeps its connections. */
const KEEPING = { max: 2, connectionTimeoutMillis: 1000, query_timeout: 1000, idleTimeoutMillis: 0 };

let server;
before(async () => {
  // The server closes connections that are idle for a second.
  server = await PostgresServer.start({ idle_session_timeout: "1s", max_connections: 100 });
});
after(() => server?.crash()); // an orderly end can take a minute

let scopes = 0;
async function newScope(nodes) {
  const scope = `run-${++scopes}`;
  const pool = new pg.Pool({ connectionString: server.url });
  pool.on("error", () => {});
  const store = new PostgresStore(pool);
  await store.migrate();
  await store.init({ scope, layout: "default", nodes });
  await pool.end();
  return scope;
}

/** An instance. It is stopped except while it is invoked. */
class Instance {
  constructor(task) {
    this.child = spawn(process.execPath, [program, JSON.stringify(task)], { stdio: ["pipe", "pipe", "pipe"] });
    this.ended = once(this.child, "close");
    let errors = "";
    this.child.stderr.on("data", (chunk) => {
      errors += chunk;
    });
    this.ended.then(([status]) => this.answer?.({ error: `ended with ${status}: ${errors}` }));
    createInterface({ input: this.child.stdout }).on("line", (line) => this.answer?.(JSON.parse(line)));
  }

  /** Sends an invocation, and waits for the reply. `meanwhile` runs after it was sent. */
  async invoke(invocation = {}, meanwhile = async () => {}) {
    this.hasAnswered = false;
    const answered = new Promise((resolve) => {
      this.answer = (reply) => {
        this.hasAnswered = true;
        resolve(reply);
      };
    });
    this.child.stdin.write(`${JSON.stringify(invocation)}\n`);
    this.child.kill("SIGCONT");
    await meanwhile();
    // Since it could last go on.
    const beganMs = performance.now();
    const reply = await answered;
    this.answer = undefined;
    this.child.kill("SIGSTOP");
    return { ...reply, ms: performance.now() - beganMs };
  }

  /** Invokes it, and expects IDs. */
  async mints(invocation, meanwhile) {
    const reply = await this.invoke(invocation, meanwhile);
    assert.equal(reply.error, undefined, `${reply.error} ${reply.cause}`);
    return reply;
  }

  /** Waits until it has stopped itself, or has answered. */
  async stopped() {
    const state = () => readFileSync(`/proc/${this.child.pid}/stat`, "utf8").split(") ").at(-1)[0];
    while (!this.hasAnswered && state() !== "T") await sleep(5);
  }

  /** Lets it go on so long after it has stopped itself. */
  async goOnAfter(ms) {
    await this.stopped();
    await sleep(ms);
    this.child.kill("SIGCONT");
  }

  async end() {
    this.child.kill("SIGKILL");
    await this.ended;
  }
}

/** A new scope and folder, and instances that are ended with the test. */
async function setUp(t, { nodes = { from: 0, to: 7 }, proxied, ...task } = {}) {
  const scope = await newScope(nodes);
  const out = mkdtempSync(join(tmpdir(), "frazil-serverless-"));
  const proxy = proxied ? await startProxy(server.port) : undefined;
  const instances = [];
  t.after(async () => {
    await Promise.all(instances.map((instance) => instance.end()));
    proxy?.close();
    rmSync(out, { recursive: true, force: true });
  });
  const url = proxy ? `postgres://postgres@127.0.0.1:${proxy.port}/postgres` : server.url;
  const settings = {
    out,
    url,
    scope,
    windowMs: WINDOW_MS,
    maxAsyncWaitMs: MAX_ASYNC_WAIT_MS,
    time: "wall",
    pool: RECIPE,
    ...task,
  };
  return {
    out,
    proxy,
    start(own) {
      const instance = new Instance({ ...settings, ...own });
      instances.push(instance);
      return instance;
    },
  };
}

const repeatsNone = ({ out }) => {
  const { issued, repeats } = countIds(out);
  assert.equal(repeats, 0);
  assert.ok(issued > 0);
};

// docs/internals/claims.md: 22, 23
test("stopped for less than half of a window, for more, and for more than a window: the node id continues", async (t) => {
  const run = await setUp(t);
  const instance = run.start();
  const first = await instance.mints();
  for (const [stoppedMs, asks] of [
    [100, false],
    [1200, true],
    [3 * WINDOW_MS, true],
  ]) {
    const before = await instance.mints();
    await sleep(stoppedMs);
    const { node, attempts, events, resources } = await instance.mints();
    assert.equal(node, first.node);
    // Nothing is left that could run, or that keeps the process: no timer, and with this pool no connection either.
    assert.ok(!resources.includes("Timeout"), `${resources}`);
    // Not the reverse: a busy machine may take longer than half of the window by itself.
    if (asks) assert.ok(attempts > before.attempts);
    assert.equal(events.lost, undefined);
  }
  await instance.invoke({ close: true });
  repeatsNone(run);
});

// docs/internals/claims.md: 22, 23, 24
test("stopped while another instance takes the node id: the next invocation gets it back, or another one", async (t) => {
  const one = await setUp(t, { nodes: { from: 5, to: 5 } });
  const instances = [one.start(), one.start()];
  for (let turn = 0; turn < 6; turn++) {
    const { node } = await instances[turn % 2].mints();
    assert.equal(node, 5);
    await sleep(WINDOW_MS + 200);
  }
  const { events } = await instances[0].mints();
  assert.ok(events.lost >= 2 && events.acquired >= 2, JSON.stringify(events));
  repeatsNone(one);

  const two = await setUp(t, { nodes: { from: 5, to: 6 } });
  // The other one has it until after the end of this test.
  const [stopped, other] = [two.start({ node: 5 }), two.start({ node: 5, windowMs: LONG_WINDOW_MS })];
  assert.equal((await stopped.mints()).node, 5);
  await sleep(WINDOW_MS + 200);
  assert.equal((await other.mints()).node, 5);
  assert.equal((await stopped.mints()).node, 6);
  repeatsNone(two);
});

for (const [name, pool] of Object.entries({ "of the recipe": RECIPE, "that keeps its connections": KEEPING })) {
  // docs/internals/claims.md: 23
  test(`connections that die while the process is stopped, with a pool ${name}`, async (t) => {
    const run = await setUp(t, { pool, proxied: true });
    const instance = run.start();
    const { proxy } = run;
    const faults = {
      "the server closes idle connections": () => sleep(1200),
      "the connections are reset": async () => {
        proxy.cut();
        proxy.heal({ lose: true });
        await sleep(1200);
      },
      "the server is restarted": async () => {
        await server.crash();
        await server.start();
        await sleep(1200);
      },
      "the connections are dropped without a word": async () => {
        proxy.drop();
        await sleep(1200);
      },
    };
    for (const [fault, strike] of Object.entries(faults)) {
      for (const overMs of pool === RECIPE ? [0, WINDOW_MS] : [0]) {
        await instance.mints();
        await strike();
        await sleep(overMs);
        const { ms } = await instance.mints();
        t.diagnostic(`${fault}, stopped for ${1200 + overMs} ms or more: ${Math.round(ms)} ms`);
      }
    }
    repeatsNone(run);
  });
}

// docs/internals/claims.md: 22, 23, 24
test("stopped in the middle of an attempt, and in the middle of an invocation", async (t) => {
  const run = await setUp(t, { nodes: { from: 0, to: 1 } });
  const [stopped, other] = [run.start(), run.start()];
  await stopped.mints();
  for (const kind of ["stopsAtRequest", "stopsBetween"]) {
    for (const stoppedMs of [500, WINDOW_MS + 500]) {
      await sleep(WINDOW_MS / 2 + 100);
      const { ms } = await stopped.mints({ [kind]: true }, async () => {
        await stopped.stopped();
        await other.mints();
        await stopped.goOnAfter(stoppedMs);
      });
      t.diagnostic(`${kind}, ${stoppedMs} ms: ${Math.round(ms)} ms`);
    }
  }
  repeatsNone(run);
});

test("a request that is lost while the process is stopped fails no invocation", async (t) => {
  const run = await setUp(t, { proxied: true });
  const instance = run.start();
  await instance.mints();
  for (const lose of [true, false]) {
    for (const stoppedMs of [500, 2 * WINDOW_MS]) {
      await sleep(WINDOW_MS / 2 + 100);
      await instance.mints({}, async () => {
        const asked = run.proxy.nextConnection();
        run.proxy.cut();
        await asked;
        instance.child.kill("SIGSTOP");
        await sleep(stoppedMs);
        run.proxy.heal({ lose });
        instance.child.kill("SIGCONT");
      });
    }
  }
  repeatsNone(run);
});

/**
 * Instances that are invoked now and then for so many seconds, and until they have so many IDs, some of them stopped in the middle, some
 * killed.
 */
async function storm(t, { seconds, leastIds, instances = 6, ...task }) {
  const run = await setUp(t, task);
  const random = randomNumbers(20261122);
  const until = performance.now() + 1000 * seconds;
  const count = 20_000;
  let invocations = 0;
  let slowestMs = 0;
  const failures = [];
  await Promise.all(
    Array.from({ length: instances }, async () => {
      let instance = run.start();
      while (failures.length === 0 && (performance.now() < until || invocations * count < leastIds)) {
        const drawn = random();
        const kind = drawn < 0.15 ? "stopsAtRequest" : drawn < 0.4 ? "stopsBetween" : undefined;
        const stoppedMs = 2 * WINDOW_MS * random();
        const reply = await instance.invoke({ count, ...(kind && { [kind]: true }) }, async () => {
          if (kind) await instance.goOnAfter(stoppedMs);
        });
        invocations++;
        slowestMs = Math.max(slowestMs, reply.ms);
        if (reply.error) failures.push(`${reply.error} ${reply.cause ?? ""}`);
        await sleep(drawn < 0.8 ? 300 * random() : 2 * WINDOW_MS * random());
        if (drawn > 0.95) {
          await instance.end();
          instance = run.start();
        }
      }
    }),
  );
  return { ...countIds(run.out), invocations, slowestMs, failures };
}

// docs/internals/claims.md: 22, 23, 24
test("many instances: every invocation gets its IDs, and none repeats", async (t) => {
  for (const time of ["wall", "store"]) {
    const nodes = { from: 0, to: 15 };
    const leastIds = 220_000;
    const { issued, repeats, invocations, slowestMs, failures } = await storm(t, { seconds: 8, leastIds, time, nodes });
    t.diagnostic(`${time}: ${invocations} invocations, ${issued} IDs, ${Math.round(slowestMs)} ms the slowest`);
    assert.deepEqual(failures, []);
    assert.equal(repeats, 0);
    assert.ok(issued >= leastIds, `only ${issued} IDs`);
  }
});

/** Two instances with one node id: each is stopped between its look at the lease and the minting, and they go on together. */
async function together(t, task) {
  const run = await setUp(t, { nodes: { from: 0, to: 0 }, ...task });
  const [one, other] = [run.start(), run.start()];
  const invocation = { count: 200_000, stopsBetween: true };
  let goOn;
  const both = new Promise((resolve) => {
    goOn = resolve;
  });
  const first = one.invoke(invocation, async () => {
    await both;
    one.child.kill("SIGCONT");
  });
  await one.stopped();
  await sleep(WINDOW_MS + 500);
  const second = other.invoke(invocation, async () => {
    await other.goOnAfter(0);
    goOn();
  });
  const replies = await Promise.all([first, second]);
  return { ...countIds(run.out), failures: replies.flatMap(({ error }) => error ?? []) };
}

// docs/internals/claims.md: 22, 23
test("two instances that go on together after each has looked at its lease repeat no ID", async (t) => {
  const { issued, repeats, failures } = await together(t);
  assert.deepEqual(failures, []);
  assert.deepEqual({ issued, repeats }, { issued: 400_000, repeats: 0 });
});

test("the checker catches leases that end by a time-out only", async (t) => {
  // On a busy machine one of the two may have all of its IDs before the other goes on.
  for (let isCaught = false; !isCaught; ) {
    const { issued, repeats, failures } = await together(t, { broken: true });
    t.diagnostic(`${issued} IDs, ${repeats} repeats`);
    assert.deepEqual(failures, []);
    isCaught = repeats > 0;
  }
});
