// A Worker with generators of every kind. It answers with their warnings.
import { DurableObject } from "cloudflare:workers";
import { Layout, Snowflake } from "frazil";
import { lease } from "frazil/lease";
import { DurableObjectStore, durable, FrazilLeases, leased } from "frazil/workers";

export { FrazilLeases };

const warningsOf = (ids) => {
  ids.next();
  return ids.health().warnings;
};
const printed = [];
console.warn = (text) => printed.push(text);
const atModuleScope = new Snowflake({ node: 3 });

export class Room extends DurableObject {
  warnings() {
    return {
      "in an object": warningsOf(new Snowflake({ node: 7 })),
      "in an object, confirmed": warningsOf(new Snowflake({ node: 7, unshared: true })),
      "durable()": warningsOf(durable(this.ctx, { node: 7 })),
    };
  }
}

export default {
  async fetch(_, env, ctx) {
    const withoutNode = new Layout({
      epochMs: Date.UTC(2024, 0, 1),
      fields: [
        { kind: "time", bits: 41 },
        { kind: "sequence", bits: 12 },
      ],
    });
    const timed = await lease(new DurableObjectStore(env.FRAZIL), { scope: "timed" });
    const warnings = {
      node: warningsOf(new Snowflake({ node: 7 })),
      parts: warningsOf(new Snowflake({ layout: "twitter", node: { datacenter: 1, worker: 2 } })),
      none: warningsOf(new Snowflake({ layout: withoutNode, node: "none" })),
      "at module scope": warningsOf(atModuleScope),
      "confirmed false": warningsOf(new Snowflake({ node: 7, unshared: false })),
      confirmed: warningsOf(new Snowflake({ node: 7, unshared: true })),
      "a clock of its own": warningsOf(new Snowflake({ node: 7, now: () => Date.UTC(2026, 0, 1) })),
      "leased()": warningsOf(await leased(env.FRAZIL, ctx)),
      "lease()": warningsOf(timed),
      ...(await env.ROOMS.get(env.ROOMS.idFromName("one")).warnings()),
    };
    await timed.close();
    return Response.json({ ...warnings, printed });
  },
};
