// What goes wrong with the clock of etcd, which is the Date header of its answers.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt } from "../attempts.mjs";
import { changingFetch, newScope, server, storeOf } from "./one-server.mjs";
import { movableFetch } from "./server.mjs";

describe("the clock", () => {
  /** The time of the store, as an answer has it. */
  const nowOf = async (store, scope) => (await store.acquire(attempt({ scope, layout: "another" }))).storeNowMs;

  test("is never ahead of the server's, at most a second behind, and nearer after some answers", async () => {
    const store = storeOf();
    const scope = await newScope();
    // The server is on this host, and has its clock.
    let worst = 0;
    for (let count = 0; count < 60; count++) {
      const before = Date.now();
      const behindMs = Date.now() - (await nowOf(store, scope));
      const tookMs = Date.now() - before;
      assert.ok(behindMs >= -tookMs - 1, `${-behindMs} ms ahead`);
      assert.ok(behindMs <= 1000 + 1, `${behindMs} ms behind`);
      worst = count < 30 ? 0 : Math.max(worst, behindMs - tookMs);
      await sleep(37);
    }
    assert.ok(worst < 500, `still ${worst} ms behind`);
  });

  test("follows a step of the server's clock, forward and back", async () => {
    const { fetch, jump } = movableFetch();
    const store = storeOf({ fetch });
    const scope = await newScope();
    let offsetMs = 0;
    for (const step of [0, 3_600_000, -3_600_000, 5000, -2000, -86_400_000]) {
      offsetMs += step;
      await jump(step);
      const aheadMs = (await nowOf(store, scope)) - Date.now() - offsetMs;
      assert.ok(aheadMs <= 1 && aheadMs > -1500, `${aheadMs} ms ahead after a step by ${step}`);
    }
  });

  test("is right after answers that took long, and after a suspension of this machine", async () => {
    let delayMs = 0;
    const slow = async (...args) => {
      const response = await fetch(...args);
      await sleep(delayMs);
      return response;
    };
    const store = storeOf({ fetch: slow });
    const scope = await newScope();
    await nowOf(store, scope);
    delayMs = 1500;
    const beganMs = Date.now();
    const late = await nowOf(store, scope);
    // As exact as before: the first answer bounds it.
    assert.ok(late <= Date.now() && late >= beganMs + 1500 - 1100, `${late - beganMs} ms after the call began`);
    delayMs = 0;
    // The monotonic clock of Linux stands still while the machine is suspended.
    const real = performance.now;
    performance.now = () => real.call(performance) - 60_000;
    try {
      const aheadMs = (await nowOf(store, scope)) - Date.now();
      assert.ok(aheadMs <= 1 && aheadMs > -1100, `${aheadMs} ms ahead after a suspension`);
    } finally {
      performance.now = real;
    }
  });

  test("of each endpoint is its own", async () => {
    const { fetch: ahead, jump } = movableFetch();
    await jump(20_000);
    const dead = new Set();
    const alias = `http://localhost:${server.port}`;
    const both = (url, init) => {
      if (dead.has(new URL(url).hostname)) return Promise.reject(new TypeError("fetch failed"));
      return (url.startsWith(alias) ? ahead : fetch)(url.replace("localhost", "127.0.0.1"), init);
    };
    const store = storeOf({ fetch: both, endpoints: [`http://127.0.0.1:${server.port}`, alias] });
    const scope = await newScope();
    const near = await nowOf(store, scope);
    dead.add("127.0.0.1");
    const far = await nowOf(store, scope);
    assert.ok(far - near > 18_000 && far - near < 22_000, `${far - near} ms between two members that are 20 s apart`);
    dead.clear();
    dead.add("localhost");
    const again = await nowOf(store, scope);
    assert.ok(again >= near && again - near < 5000, "the clock of one endpoint moved that of the other");
  });

  // docs/safety.md: 22
  test("windows never overlap while members a minute apart answer by turns; a store that trusts `until` alone is caught", async () => {
    const overlapping = async (broken) => {
      const { fetch: moved, jump } = movableFetch();
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
      const scope = await newScope({ nodes: { from: 0, to: 0 } });
      const windows = [];
      for (let count = 0; count < 40; count++) {
        await jump(count % 2 ? 60_000 : -60_000);
        const store = storeOf({ fetch: broken ? forgetting : moved });
        const answer = await store.acquire(attempt({ scope, windowMs: 300 }));
        if (answer.granted) windows.push(answer);
        await sleep(10);
      }
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
    await assert.rejects(storeOf({ fetch: bare }).acquire(attempt()), {
      code: "STORE_REFUSED",
      message: /Date header/,
    });
  });
});
