// Connections that break without a word, as when a host loses power or a firewall forgets them: neither side notices, and new ones work.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { lease } from "frazil/lease";
import { Segment } from "frazil/segment";
import { startProxy } from "./cut-proxy.mjs";

/**
 * Draws numbers over a client, drops its connections (`ended`: on the side of the server they end), and draws more. `storeOf`: makes a
 * client of a port, opens all its connections, and returns its store, which has the tag. Rejects if there are no numbers within
 * 20 seconds; a dropped connection is kept by the system for a quarter of an hour.
 */
export async function drawOverBrokenConnections(port, storeOf, { ended = false, tag = "orders" } = {}) {
  const proxy = await startProxy(port);
  const { store, close } = await storeOf(proxy.port);
  try {
    for (let round = 0; round < 2; round++) {
      const orders = new Segment(store, { tag, step: 10, growBelowMs: 0, maxAsyncWaitMs: 20_000 });
      try {
        const numbers = await orders.nextMany(25);
        proxy.drop({ ended });
        numbers.push(...(await orders.nextMany(50)));
        assert.equal(new Set(numbers).size, 75);
      } finally {
        orders.close();
      }
    }
  } finally {
    await close();
    proxy.close();
  }
}

/**
 * Holds a lease over a client whose connections are dropped, with attempts of half a second. `storeOf` as above; the store has the
 * scope, of the layout "default". It waits for as long as it takes until the lease is renewed, or another is granted: the system keeps a
 * dropped connection for a quarter of an hour, so a client that keeps one, too, meets the limit of the suite.
 */
export async function holdOverBrokenConnections(port, storeOf, { scope = "short" } = {}) {
  const proxy = await startProxy(port);
  const { store, close } = await storeOf(proxy.port);
  try {
    const ids = await lease(store, { scope, windowMs: 5000 });
    try {
      for (let round = 0; round < 2; round++) {
        const before = ids.stats().lease;
        proxy.drop();
        for (;;) {
          const { renewed, acquired } = ids.stats().lease;
          if (renewed + acquired > before.renewed + before.acquired) break;
          await sleep(50);
        }
        ids.next();
      }
    } finally {
      await ids.close();
    }
  } finally {
    await close();
    proxy.close();
  }
}

/** Opens as many connections as a pool has. */
export const openAll = (count, query) => Promise.all(Array.from({ length: count }, query));
