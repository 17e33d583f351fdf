// Generators that are garbage-collected, closed, closed twice and opened again, in any order: each mints for its own node id or
// is closed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Snowflake } from "frazil";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

test("60,000 generators, collected and closed in any order, mint for their own node id or are closed", async () => {
  const live = [];
  const counts = { own: 0, foreign: 0, CLOSED: 0 };
  const mint = ([ids, node]) => {
    try {
      counts[ids.decode(ids.next()).node === node ? "own" : "foreign"]++;
    } catch ({ code }) {
      counts[code]++;
    }
  };
  for (let at = 0; at < 60_000; at++) {
    const node = Math.floor(Math.random() * 1024);
    const ids = new Snowflake({ node, maxWaitMs: 0, now: () => 1_780_000_000_000 + at });
    if (Math.random() < 0.3) live.push([ids, node]);
    mint([ids, node]);
    if (Math.random() < 0.3) ids.close();
    if (live.length > 500) {
      const chosen = Math.floor(Math.random() * live.length);
      const [old] = live.splice(chosen, 1);
      mint(old);
      old[0].close();
      old[0].close();
      mint(old);
    }
    if (at % 3000 === 0) {
      collect();
      await sleep(1);
    }
  }
  assert.ok(counts.own > 60_000 && counts.CLOSED > 10_000, JSON.stringify(counts));
  assert.equal(counts.foreign, 0);
});
