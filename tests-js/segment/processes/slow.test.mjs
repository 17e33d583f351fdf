// A real Postgres that answers late: calls do not wait, because the next range is requested ahead of use. And a store that hangs. The test
// controls the time: it stands still while Postgres works, and moves by a millisecond when everything waits for it.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Segment } from "frazil/segment";
import { PostgresStore } from "frazil/stores/postgres";
import pg from "pg";
import { PostgresServer, poolTo } from "../../stores/postgres/server.mjs";

let server;
before(async () => {
  server = await PostgresServer.start();
  const pool = poolTo(server.url);
  await new PostgresStore(pool).migrate();
  await pool.end();
});
after(() => server?.crash());

/** The time of a test, for its timers and its monotonic clock. */
class TestTime {
  ms = performance.now();
  /** How many connections and statements a server has not answered. Time stands still meanwhile. */
  served = 0;
  #timers;

  constructor({ mock }) {
    mock.timers.enable({ apis: ["setTimeout"] });
    mock.method(performance, "now", () => this.ms);
    this.#timers = mock.timers;
  }

  /** Lets a millisecond pass, and all happen that it lets happen. */
  async pass() {
    this.ms++;
    this.#timers.tick(1);
    do await new Promise(setImmediate);
    while (this.served > 0);
  }

  /** Lets time pass until a promise has settled. */
  async until(promise) {
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    promise.then(settled, settled);
    await new Promise(setImmediate);
    while (!isSettled) await this.pass();
    return promise;
  }
}

/** A client of Postgres that hears of each answer so many milliseconds late, by the time of the test. */
const lateClient = (time, delayMs) =>
  class extends pg.Client {
    connect(connected) {
      time.served++;
      super.connect((...result) => {
        time.served--;
        setTimeout(connected, delayMs, ...result);
      });
    }

    query(text, values, answered) {
      time.served++;
      super.query(text, values, (...answer) => {
        time.served--;
        setTimeout(answered, delayMs, ...answer);
      });
    }
  };

/** By the time of the test. */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Draws so many numbers a second for so many seconds, once the first range is there. `change`: what becomes of the store. Returns how
 * many calls found none, and how many ranges were used.
 */
async function drawn(context, { tag, delayMs, step, perSecond, seconds, change = (store) => store }) {
  const time = new TestTime(context);
  const pool = poolTo(server.url, { Client: lateClient(time, delayMs) });
  context.after(() => time.until(pool.end()));
  const store = new PostgresStore(pool);
  await time.until(store.initSegment({ tag }));
  let orders;
  const changed = change(store, () => orders);
  orders = new Segment(changed, { tag, step, maxStep: step, maxAsyncWaitMs: 60_000 });
  await time.until(orders.ready());
  const { waits: before } = orders.stats();
  const numbers = [];
  let misses = 0;
  const beganMs = time.ms;
  for (let called = 0; called < perSecond * seconds; called++) {
    while (time.ms < beganMs + (1000 * called) / perSecond) await time.pass();
    // Most callers take what is there, and some would wait.
    const number = called % 10 === 0 ? await time.until(orders.next()) : orders.tryNext();
    if (number === undefined) misses++;
    else numbers.push(number);
  }
  const { waits, fetchMs, ranges } = orders.stats();
  orders.close();
  assert.equal(new Set(numbers).size, numbers.length);
  return { misses, waits: waits - before, fetchMs, ranges };
}

/** Lets the store be asked only when no number is left. */
const onlyWhenEmpty = (store, orders) => ({
  name: "asked late",
  async allocate(request) {
    while (orders()?.stats().left > 0) await sleep(5);
    return store.allocate(request);
  },
});

// Each allocation is two round trips. A range lasts for longer than that.
const SLOW = [
  { delayMs: 100, step: 400, perSecond: 200, seconds: 9, transitions: 4 },
  { delayMs: 2000, step: 700, perSecond: 100, seconds: 15, transitions: 2 },
];

describe("each reply of the database comes late", () => {
  for (const { transitions, ...slow } of SLOW) {
    const late = `${slow.delayMs} ms late`;
    test(`${late}: no caller waits, and tryNext() always has a number`, async (context) => {
      const { misses, waits, fetchMs, ranges } = await drawn(context, { ...slow, tag: late });
      context.diagnostic(`${fetchMs} ms for an allocation, ${ranges} ranges`);
      assert.deepEqual({ misses, waits }, { misses: 0, waits: 0 });
      assert.ok(fetchMs >= 2 * slow.delayMs, `${fetchMs} ms`);
      assert.ok(ranges > transitions, `${ranges} ranges`);
    });

    test(`${late}: a segment that asks only when it is empty lets callers wait`, async (context) => {
      const mutant = {
        ...slow,
        seconds: slow.step / slow.perSecond + 1,
        tag: `mutant, ${late}`,
        change: onlyWhenEmpty,
      };
      const { misses, waits } = await drawn(context, mutant);
      assert.ok(misses + waits > 0, "the mutant shows nothing");
    });
  }

  test("a store that hangs is asked at most twice at a time, and an answer that comes at last is taken", async (context) => {
    const time = new TestTime(context);
    const open = new Set();
    let most = 0;
    let answer;
    const store = {
      name: "hanging",
      allocate: ({ attempt, signal }) =>
        new Promise((resolve, reject) => {
          open.add(signal);
          most = Math.max(most, open.size);
          answer ??= () => resolve({ attempt, first: 1n, count: 5 });
          signal.addEventListener("abort", () => {
            open.delete(signal);
            reject(signal.reason);
          });
        }),
    };
    const orders = new Segment(store, { tag: "orders", step: 5, maxAsyncWaitMs: 60_000 });
    const first = orders.next();
    while (orders.stats().tries < 4) await time.pass();
    assert.deepEqual([most, open.size], [2, 2]);
    assert.equal(orders.stats().problem.code, "STORE_UNAVAILABLE");
    // The first try was given up by its signal, to which this store need not listen.
    open.clear();
    store.allocate = ({ attempt, signal }) =>
      new Promise((resolve) => {
        open.add(signal);
        answer = () => resolve({ attempt, first: 1n, count: 5 });
      });
    while (open.size === 0) await time.pass();
    const [try1] = open;
    open.clear();
    const late = answer;
    // The next try is under way when the one before is answered.
    while (open.size === 0) await time.pass();
    const [try2] = open;
    late();
    assert.equal(await time.until(first), 1n);
    assert.deepEqual([try1.aborted, try2.aborted], [true, true], "tries whose answers nobody wants");
    orders.close();
  });
});
