// Faults of etcd's clock, which is the Date header of its answers.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { told } from "../../base/rule-texts.mjs";
import { attempt } from "../kit/attempts.mjs";
import { changingFetch, newScope, server, storeOf } from "./one-server.mjs";

/** The clocks of a test: that of this process, and that of a real server, whose answers get its `Date`. */
class TestClocks {
  /** What the monotonic clock of this process shows. */
  monotonicMs = 1000;
  /** What the wall clock of the server shows. */
  wallMs;

  constructor({ mock }, wallMs = Math.ceil(Date.now() / 1000) * 1000) {
    this.wallMs = wallMs;
    mock.method(performance, "now", () => this.monotonicMs);
  }

  pass(ms) {
    this.monotonicMs += ms;
    this.wallMs += ms;
  }

  /** A `fetch` from a server whose clock is ahead by so much, and whose answers arrive after `delayMs()`. */
  fetch({ aheadMs = 0, delayMs = () => 0 } = {}) {
    return async (url, init) => {
      const response = await fetch(url, init);
      const date = new Date(this.wallMs + aheadMs).toUTCString();
      this.pass(delayMs());
      const { status } = response;
      return { status, headers: { get: (name) => (name === "date" ? date : null) }, text: () => response.text() };
    };
  }
}

describe("the clock", () => {
  /** The time of the store, as an answer has it. */
  const nowOf = async (store, scope) => (await store.acquire(attempt({ scope, layout: "another" }))).storeNowMs;

  /** Whether a time of the store is not ahead of the true one, and behind by less than the second of a header and a rounding. */
  const checkTime = (nowMs, trueMs, behindMs = 1000) =>
    assert.ok(
      nowMs <= trueMs && nowMs >= trueMs - behindMs,
      `${nowMs - trueMs} ms ahead, and may be ${behindMs} behind`,
    );

  test("is never ahead of the server's, at most a second behind, and nearer after some answers", async () => {
    const store = storeOf();
    const scope = await newScope();
    const beganMs = Date.now();
    // How far it may be behind after the answers so far. One that was asked for after a second had begun names that second, or a later.
    let behindMs = 1000;
    for (let count = 0; count < 60 || behindMs >= 500; count++) {
      // The server is on this host, and has its clock.
      const sentMs = Date.now();
      const nowMs = await nowOf(store, scope);
      const receivedMs = Date.now();
      behindMs = Math.min(behindMs, receivedMs + 1 - Math.floor(sentMs / 1000) * 1000);
      const driftMs = 0.001 * (receivedMs - beganMs);
      assert.ok(nowMs <= receivedMs, `${nowMs - receivedMs} ms ahead`);
      assert.ok(
        nowMs >= sentMs - behindMs - driftMs - 1,
        `${sentMs - nowMs} ms behind, after answers that allow ${behindMs}`,
      );
      await sleep(37);
    }
  });

  test("follows a step of the server's clock, forward and back", async (t) => {
    for (const phaseMs of [0, 1, 500, 998, 999]) {
      const clocks = new TestClocks(t, Math.ceil(Date.now() / 1000) * 1000 + phaseMs);
      const store = storeOf({ fetch: clocks.fetch() });
      const scope = await newScope({}, store);
      for (const step of [0, 3_600_000, -3_600_000, 5000, -2000, -86_400_000]) {
        clocks.wallMs += step;
        clocks.pass(2);
        checkTime(await nowOf(store, scope), clocks.wallMs);
      }
      t.mock.restoreAll();
    }
  });

  test("is right after answers that took long, and after a suspension of this machine", async (t) => {
    let delayMs = 0;
    const clocks = new TestClocks(t);
    const store = storeOf({ fetch: clocks.fetch({ delayMs: () => delayMs }) });
    const scope = await newScope({}, store);
    clocks.pass(100);
    checkTime(await nowOf(store, scope), clocks.wallMs);
    delayMs = 1500;
    // As exact as before, but for the drift and a rounding: the first answers bound it.
    checkTime(await nowOf(store, scope), clocks.wallMs, 100 + 3);
    delayMs = 0;
    // The monotonic clock of Linux stands still while the machine is suspended.
    clocks.wallMs += 60_000;
    checkTime(await nowOf(store, scope), clocks.wallMs);
  });

  test("of each endpoint is its own", async (t) => {
    const clocks = new TestClocks(t);
    const dead = new Set();
    const alias = `http://localhost:${server.port}`;
    const [here, ahead] = [clocks.fetch(), clocks.fetch({ aheadMs: 20_000 })];
    const both = (url, init) => {
      if (dead.has(new URL(url).hostname)) return Promise.reject(new TypeError("fetch failed"));
      return (url.startsWith(alias) ? ahead : here)(url.replace("localhost", "127.0.0.1"), init);
    };
    const store = storeOf({ fetch: both, endpoints: [`http://127.0.0.1:${server.port}`, alias] });
    const scope = await newScope({}, storeOf({ fetch: here }));
    clocks.pass(300);
    checkTime(await nowOf(store, scope), clocks.wallMs);
    dead.add("127.0.0.1");
    clocks.pass(300);
    // Two members that are 20 s apart.
    checkTime(await nowOf(store, scope), clocks.wallMs + 20_000);
    dead.clear();
    dead.add("localhost");
    clocks.pass(300);
    // Not moved by the clock of the other endpoint, and as exact as it was.
    checkTime(await nowOf(store, scope), clocks.wallMs, 300 + 1);
  });

  // docs/internals/claims.md: 22
  test("windows never overlap while members a minute apart answer by turns; a store that trusts `until` alone is caught", async (t) => {
    const overlapping = async (broken) => {
      const clocks = new TestClocks(t);
      const moved = clocks.fetch();
      // Broken: the row's end is read as over, whatever it is.
      const forgetting = changingFetch(
        {
          answer: (json) => {
            for (const { response_range: { kvs = [] } = {} } of json.responses ?? [])
              for (const pair of kvs) {
                const value = JSON.parse(atob(pair.value));
                if (value.writtenMs === undefined || value.grant === null) continue;
                pair.value = btoa(JSON.stringify({ ...value, untilMs: "0".padStart(16, "0") }));
              }
            return json;
          },
        },
        moved,
      );
      const scope = await newScope({ nodes: { from: 0, to: 0 } }, storeOf({ fetch: moved }));
      const windows = [];
      for (let count = 0; count < 40; count++) {
        clocks.wallMs += count % 2 ? 60_000 : -60_000;
        const store = storeOf({ fetch: broken ? forgetting : moved });
        const answer = await store.acquire(attempt({ scope, windowMs: 300 }));
        if (answer.granted) windows.push(answer);
        clocks.pass(10);
      }
      t.mock.restoreAll();
      windows.sort((a, b) => a.fromMs - b.fromMs || a.untilMs - b.untilMs);
      return {
        count: windows.length,
        overlaps: windows.filter((window, at) => windows[at - 1]?.untilMs > window.fromMs).length,
      };
    };
    const { count, overlaps } = await overlapping(false);
    assert.ok(count > 0);
    assert.equal(overlaps, 0);
    assert.ok((await overlapping(true)).overlaps > 0, "the check finds nothing");
  });

  test("an answer without a Date header is refused", async () => {
    const bare = async (url, init) => {
      const response = await fetch(url, init);
      return { status: response.status, headers: { get: () => null }, text: () => response.text() };
    };
    await assert.rejects(
      storeOf({ fetch: bare }).acquire(attempt()),
      told({
        code: "STORE_REFUSED",
        message: /Date header/,
      }),
    );
  });
});
