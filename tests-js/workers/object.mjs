// A Worker whose objects have a generator each. The clock of the isolate is moved by the tests.
import { DurableObject } from "cloudflare:workers";
import { FrazilError } from "frazil";
import { durable } from "frazil/workers";

const { now } = Date;
let offsetMs = 0;
let heldMs;
Date.now = () => heldMs ?? now() + offsetMs;

/** What the broken twin does instead: its ceiling is not kept. */
const forgetful = (ctx) => ({
  storage: {
    transactionSync: (work) => work(),
    sql: {
      exec: (sql, ...values) => ({
        toArray: () => (/^SELECT/.test(sql) ? [] : ctx.storage.sql.exec(sql, ...values).toArray()),
      }),
    },
  },
});

export class Room extends DurableObject {
  ids = durable(this.env.DEFECT ? forgetful(this.ctx) : this.ctx, { node: 7 });

  mint(count) {
    return this.ids.nextMany(count).map(String);
  }

  async wait(count) {
    return (await this.ids.nextManyAsync(count)).map(String);
  }

  /** Mints and ends in the same event. */
  mintAndAbort(count) {
    const minted = this.ids.nextMany(count).map(String);
    this.ctx.storage.kv?.put?.("unused", 1);
    setTimeout(() => this.ctx.abort("ended by a test"), 0);
    return minted;
  }

  /** Mints in a transaction that is rolled back, and then outside of it. Returns what was minted outside. */
  afterRollback(count) {
    try {
      this.ctx.storage.transactionSync(() => {
        this.ids.nextMany(count);
        throw new Error("rolled back by a test");
      });
    } catch {
      return this.mint(count);
    }
  }

  /** A layout whose node id is of parts, and one with a clock field. */
  layouts() {
    const parts = durable(this.ctx, { layout: "twitter", scope: "parts", node: { datacenter: 3, worker: 17 } });
    const clocks = durable(this.ctx, { layout: "multi-clock", scope: "clocks", node: 5 });
    return [parts, clocks].map((ids) => [ids.nextString(), ids.node]);
  }

  describe() {
    const again = durable(this.ctx, { node: 7 });
    const rows = this.ctx.storage.sql.exec("SELECT * FROM frazil_ceilings").toArray();
    return { isSame: again === this.ids, node: this.ids.node, layout: this.ids.layout.fields.length, rows };
  }

  /** How often the ceiling is written while IDs are minted for so long. */
  async writes(ms) {
    let [written, before] = [0, 0];
    for (const end = now() + ms; now() < end; await new Promise((resolve) => setTimeout(resolve, 5))) {
      this.ids.next();
      const [{ until_ms: until }] = this.ctx.storage.sql.exec("SELECT until_ms FROM frazil_ceilings").toArray();
      if (until !== before) written++;
      before = until;
    }
    return written;
  }

  wrong({ options, isState = true }) {
    return durable(isState ? this.ctx : {}, options).nextString();
  }

  otherLayout() {
    this.ids.close();
    return durable(this.ctx, { node: 7, layout: "default" }).nextString();
  }
}

export default {
  async fetch(request, env) {
    const { name = "room", call, given, offset, held } = await request.json();
    if (offset !== undefined) offsetMs = offset;
    heldMs = held ?? undefined;
    try {
      return Response.json({ value: await env.FRAZIL.get(env.FRAZIL.idFromName(name))[call](given) });
    } catch (error) {
      const { code, message, retryAfterMs } = error;
      return Response.json({
        error: { ours: FrazilError.is(error), code: code ?? /^\w+(?=:)/.exec(message)?.[0], message, retryAfterMs },
      });
    }
  },
};
