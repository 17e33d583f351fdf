// Connections that break without a word, as when a host loses power or a firewall forgets them: neither side is told, and new ones work.
import assert from "node:assert/strict";
import { Segment } from "frazil/segment";
import { startProxy } from "./cut-proxy.mjs";

/**
 * Draws numbers over a client, drops its connections, and draws more. `storeOf`: makes a client of a port, opens all its connections, and
 * returns its store. The tag "orders" is there. Rejects if there are no numbers within 20 seconds; a dropped connection is kept by the
 * system for a quarter of an hour.
 */
export async function drawOverBrokenConnections(port, storeOf) {
  const proxy = await startProxy(port);
  const { store, close } = await storeOf(proxy.port);
  try {
    for (let round = 0; round < 2; round++) {
      const orders = new Segment(store, { tag: "orders", step: 10, growBelowMs: 0, maxAsyncWaitMs: 20_000 });
      try {
        const numbers = await orders.nextMany(25);
        proxy.drop();
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

/** Opens as many connections as a pool has. */
export const openAll = (count, query) => Promise.all(Array.from({ length: count }, query));
