// A Worker whose objects have a generator each. The clock of the isolate is moved by the tests.
import { DurableObject } from "cloudflare:workers";
import { FrazilError, Snowflake } from "frazil";
import { durable } from "frazil/workers";

const { now } = Date;
let offsetMs = 0;
let heldMs;
Date.now = () => heldMs ?? now() + offsetMs;

/** How many objects have ended. */
let ended = 0;
/** Ends an object after the event. */
const endSoon = (ctx) =>
  setTimeout(() => {
    ended++;
    ctx.abort("ended by a test");
  }, 0);

/** What the mutant does instead: its ceiling is not kept. */
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

  constructor(ctx, env) {
    super(ctx, env);
    if (!env.EARLY) return;
    this.first = this.#mintEarly();
    ctx.blockConcurrencyWhile(async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      this.second = this.#mintEarly();
    });
  }

  /** None before the ceiling of the instance before. */
  #mintEarly() {
    try {
      return this.mint(50);
    } catch (error) {
      if (error.code !== "CLOCK_BACKWARD") throw error;
      return [];
    }
  }

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
    endSoon(this.ctx);
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

  /** Takes single IDs in a transaction that is rolled back, and then a few outside of it. Returns what was taken outside. */
  oneByOneAfterRollback(count) {
    try {
      this.ctx.storage.transactionSync(() => {
        for (let at = 0; at < 300; at++) this.ids.next();
        throw new Error("rolled back by a test");
      });
    } catch {
      return Array.from({ length: count }, () => this.ids.nextString());
    }
  }

  /** Aborts a call that has reserved IDs in a transaction which is rolled back, and then takes single IDs. */
  async abortedInRollback(count) {
    const abort = new AbortController();
    let call;
    try {
      this.ctx.storage.transactionSync(() => {
        call = this.ids.nextManyAsync(260_000, { signal: abort.signal });
        throw new Error("rolled back by a test");
      });
    } catch {
      abort.abort();
      await call.catch(() => {});
      const ids = [];
      try {
        while (ids.length < count) ids.push(this.ids.nextString());
      } catch {} // the lead is used up
      return ids;
    }
  }

  /** Two generators of one scope and node id, as two copies of the package have them: `other` knows nothing of `this.ids`. */
  #other() {
    const { storage } = this.ctx;
    const sql = { exec: (...given) => storage.sql.exec(...given) };
    return durable({ storage: { sql, transactionSync: (work) => storage.transactionSync(work) } }, { node: 7 });
  }

  /** One generator mints in a transaction that is rolled back, then the other one outside, and then the first. */
  takesTurns(count) {
    const other = this.#other();
    try {
      this.ctx.storage.transactionSync(() => {
        this.ids.nextMany(count);
        throw new Error("rolled back by a test");
      });
    } catch {}
    const ids = other.nextMany(2 * count).map(String);
    try {
      ids.push(...this.ids.nextMany(count).map(String));
    } catch {}
    return ids;
  }

  /**
   * Which of two generators mint when they are asked in turns, for so long at least, and until they have minted. `isOneTime`: both of a
   * turn read the same time. Otherwise the clock may get to the ceiling of the first between the two readings.
   */
  async mintsInTurns(ms, isOneTime) {
    const both = [this.ids, this.#other()];
    const minted = [[], []];
    const end = now() + ms;
    for (; now() < end || minted.flat().length <= 100; await new Promise((resolve) => setTimeout(resolve, 5))) {
      heldMs = isOneTime ? now() : undefined;
      both.forEach((ids, at) => {
        try {
          minted[at].push(ids.nextString());
        } catch {}
      });
      heldMs = undefined;
    }
    return minted;
  }

  mintsInOneTime(ms) {
    return this.mintsInTurns(ms, true);
  }

  /** IDs of generators that are asked for in each call, where a library that traces calls wraps the state at each access. */
  wrapped(count) {
    const methodsOf = (target, name) => {
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    };
    const storage = () => new Proxy(this.ctx.storage, { get: methodsOf });
    const wrap = () =>
      new Proxy(this.ctx, { get: (target, name) => (name === "storage" ? storage() : methodsOf(target, name)) });
    return Array.from({ length: count }, () => durable(wrap(), { node: 11 }).nextString());
  }

  /** An ID of a generator while whose random numbers are drawn others are opened, so many that the memory of WebAssembly grows. */
  openedMeanwhile() {
    const { getRandomValues } = crypto;
    crypto.getRandomValues = (words) => {
      crypto.getRandomValues = getRandomValues;
      for (let at = 0; at < 3000; at++) durable(this.ctx, { scope: `meanwhile-${at}`, node: 0 });
      return crypto.getRandomValues(words);
    };
    return durable(this.ctx, { node: 12 }).nextString();
  }

  /** The codes of what a second layout in a scope gets: while the first generator is open, and after it is closed. */
  secondLayout() {
    const first = durable(this.ctx, { scope: "twice", node: 1 });
    first.next();
    const codes = [];
    const attempt = () => {
      try {
        durable(this.ctx, { scope: "twice", node: 0, layout: "default" }).next();
      } catch (error) {
        codes.push(error.code);
      }
    };
    attempt();
    first.close();
    attempt();
    return codes;
  }

  /** IDs before and after `close()` and `deleteAll()` in one event, and whether the second generator was refused. */
  async closeAndDelete(count) {
    const ids = this.mint(count);
    this.ids.close();
    await this.ctx.storage.deleteAll();
    this.ids = durable(this.ctx, { node: 7 });
    try {
      ids.push(...this.mint(count));
    } catch (error) {
      ids.push(error.code);
    }
    return ids;
  }

  /** IDs before and after `deleteAll()`, after which the object mints one more, and ends. */
  async deleteAndMint(count) {
    const ids = this.mint(count);
    await this.ctx.storage.deleteAll();
    ids.push(...this.mint(1));
    endSoon(this.ctx);
    return ids;
  }

  /** IDs of generators of which each is forgotten at once, as those of objects that end. */
  forget(count) {
    for (let at = 0; at < count; at++) {
      const { storage } = this.ctx;
      const sql = { exec: (...given) => storage.sql.exec(...given) };
      durable({ storage: { sql, transactionSync: (work) => storage.transactionSync(work) } }, { node: 7 });
    }
    // So that the runtime collects garbage.
    for (let at = 0; at < 200; at++) this.garbage = new Array(100_000).fill(at);
    return globalThis[Symbol.for("frazil")].connect().binding.buffer().byteLength;
  }

  sql(statement) {
    return this.ctx.storage.sql.exec(statement).toArray();
  }

  /** The code of a refusal of one ID by each reading of the clock, or the ID. */
  readings(clocks) {
    const before = heldMs;
    try {
      return clocks.map((clock) => {
        heldMs = clock === "NaN" ? Number.NaN : clock;
        try {
          return this.ids.nextString();
        } catch (error) {
          return error.code;
        }
      });
    } finally {
      heldMs = before;
    }
  }

  setAlarm() {
    return this.ctx.storage.setAlarm(now());
  }

  alarm() {
    this.rung = [...(this.rung ?? []), ...this.#mintEarly()];
  }

  hasRung() {
    return this.rung !== undefined;
  }

  early() {
    return [...(this.first ?? []), ...(this.second ?? []), ...(this.rung ?? [])];
  }

  /** A generator with the layout and node id of a static one. */
  besideStatic() {
    const fixed = new Snowflake({ layout: "edge", node: 9 });
    return [fixed.next(), durable(this.ctx, { node: 9 }).next(), fixed.next()].map(String);
  }

  health() {
    const { ok, refusal } = this.ids.health();
    const rows = this.ctx.storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'frazil_ceilings'").toArray();
    return { ok, code: refusal?.code, retryAfterMs: refusal?.retryAfterMs, tables: rows.length };
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

  /** How often the ceiling is written while the clock goes on for so long, and an ID is minted every 5 ms. */
  writes(ms) {
    let [written, before] = [0, 0];
    const beganMs = now();
    for (let at = 0; at < ms; at += 5) {
      heldMs = beganMs + at;
      this.ids.next();
      const [{ until_ms: until }] = this.ctx.storage.sql.exec("SELECT until_ms FROM frazil_ceilings").toArray();
      if (until !== before) written++;
      before = until;
    }
    heldMs = undefined;
    return written;
  }

  wrong({ options, isState = true }) {
    return durable(isState ? this.ctx : {}, options).nextString();
  }

  /** Whether the epoch as a `Date`, which is another one in each call, means the same generator. */
  isSameWithDate(epochMs) {
    const open = () => durable(this.ctx, { node: 7, epochMs: new Date(epochMs) });
    return open() === this.ids && open() === this.ids;
  }

  /** What cannot be sent to an object. */
  wrongLead() {
    try {
      durable(this.ctx, { node: 8, maxLeadMs: Symbol("ten") });
    } catch (error) {
      return [error.code, error.field];
    }
  }

  /** The storage fails in the middle of a call. */
  failsMidway(count) {
    const { storage } = this.ctx;
    let calls = 0;
    const exec = (...given) => {
      if (++calls > 6) throw new Error("disk I/O error: SQLITE_IOERR");
      return storage.sql.exec(...given);
    };
    const state = { storage: { sql: { exec }, transactionSync: (work) => work() } };
    const target = new BigUint64Array(count);
    try {
      durable(state, { node: 12 }).fill(target);
    } catch ({ code, issued }) {
      return { code, issued, filled: target.indexOf(0n) };
    }
  }

  otherLayout() {
    this.ids.close();
    return durable(this.ctx, { node: 7, layout: "default" }).nextString();
  }
}

export default {
  async fetch(request, env) {
    const { name = "room", call, given, offset, held } = await request.json();
    if (call === "ended") return Response.json({ value: ended });
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
