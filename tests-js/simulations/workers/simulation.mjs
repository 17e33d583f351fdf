// A deterministic simulation of `leased()` on Cloudflare Workers: isolates, each with its own WebAssembly instance, few node ids, a store,
// and a network between them, in fake time. What happens follows from a seed.
//
//   node tests-js/simulations/workers/simulation.mjs SEED [NAME]    replays a seed, with a line for each step,
//                                                                      on a client of broken.mjs
//
// isolates.mjs has the runtime. An object that is aborted loses the writes that were not answered.
//
// Checked in every run: no ID twice; the time of each ID within a window that its isolate was granted; order within a generator; no
// code of one request runs in an event of another, as it does where requests share a promise; every request that is not cancelled
// ends within its time; one renewal at a time beside requests, and a bounded rate of requests to the store; after the faults stop,
// every isolate mints again.
import { SCOPE, VERBS, withLeases } from "../leases.mjs";
import { main } from "../main.mjs";
import { BROKEN } from "./broken.mjs";
import { SOMETIMES } from "./events.mjs";
import { compile } from "./isolate-code.mjs";
import { Isolate, Request, STEP_BACK_MS, WorkersWorld } from "./isolates.mjs";

/** How many requests to the store one request to the Worker may make. Measured: at most 15 in 600 seeds, where no clock was set. */
const MAX_ASKED = 24;
/**
 * The same where the clock was set of late. Requests from before keep theirs, and those after it have the new one. So the schedule goes
 * back and forth, and the next try begins when the time of one is over. Measured: at most 27 in 1,800 seeds.
 */
const MAX_ASKED_SET = 48;
/** For how long after its clock was set that holds for an isolate: twice as long as a request waits at most. */
const SET_MS = 10_000;

const ORDINARY = new Set([
  "LEASE_EXPIRED",
  "LEASE_LOST",
  "CLOCK_BACKWARD",
  "SEQUENCE_EXHAUSTED",
  "STORE_UNAVAILABLE",
  "NODE_IDS_EXHAUSTED",
  "STORE_REFUSED",
  "CLOSED",
]);

class LeasingIsolate extends Isolate {
  /** The grants it asked for. */
  grants = new Set();
  last = -1n;
  generator;
  /** When it had a lease renewed beside a request, and whether the outcome is known. */
  renewal;

  constructor(world, name, aheadMs) {
    super(world, name, aheadMs);
    const { random } = world;
    this.options = {
      scope: SCOPE,
      windowMs: world.windowMs,
      maxAsyncWaitMs: random.one([200, 1000, 5000]),
      time: random.one(["wall", "store"]),
      sequenceStart: random.one(["zero", "random", "wrap"]),
      ...(random.chance(0.2) && { node: random.below(4) }),
      ...(random.chance(0.2) && { maxLeadMs: 0 }),
    };
    this.leased = this.evaluate().leased;
    this.store = world.storeOf(this);
  }
}

class World extends withLeases(WorkersWorld, "edge") {
  /** Writes of the object that are not durable yet: their answers wait. */
  batch = [];

  constructor(seed, evaluate, log) {
    super(seed, { evaluate, log, name: "workers", listed: SOMETIMES });
  }

  /** Carries out an operation in the object. `settle` is called when what it wrote is durable, or it was aborted. */
  async execute(name, verb, request, settle) {
    if (this.batch.length === 0) {
      this.before = { saved: this.leases.save(), grants: this.leases.grants.length };
      const batch = this.batch;
      this.after(1 + this.random.below(5), () => this.flush(batch));
    }
    const result = await this.carryOut(name, verb, request);
    this.batch.push((error) => settle(error ?? result));
    return result;
  }

  flush(batch) {
    if (batch !== this.batch) return;
    this.batch = [];
    for (const settle of batch) settle();
  }

  abortObject() {
    if (this.batch.length > 0) this.sometimes("the object is aborted, and a write rolled back");
    this.step(`the object is aborted with ${this.batch.length} writes`);
    if (this.batch.length === 0) return;
    const { saved, grants } = this.before;
    this.leases.restore(saved);
    this.leases.grants.length = grants;
    const batch = this.batch;
    this.batch = [];
    for (const settle of batch) settle(new Error("the object was reset"));
  }

  /** The store as an isolate sees it, through a network with faults. */
  storeOf(isolate) {
    const call = (verb) => (given) => {
      if (this.failure) return new Promise(() => {});
      const request = this.entered();
      const { random } = this;
      const { signal, ...sent } = given;
      this.asks++;
      this.step(`${request.name}: ${verb} ${sent.grant?.slice(0, 4) ?? ""} ${sent.node ?? ""}`);
      if (sent.grant !== undefined && verb === "acquire") isolate.grants.add(sent.grant);
      request.askedFirstMs ??= this.ms;
      const most = isolate.clockSetMs < request.askedFirstMs - SET_MS * this.scale ? MAX_ASKED : MAX_ASKED_SET;
      if (verb !== "release" && ++request.asked > most)
        this.fail(`${request.name} asks the store ${request.asked} times`);
      this.most = Math.max(this.most, request.asked);
      const asking = [...isolate.requests].filter((other) => other !== request && other.isAlive && other.isAsking);
      if (asking.length > 0) this.sometimes("several requests ask for one lease");
      if (asking.some(({ nowMs }) => nowMs === request.nowMs)) this.sometimes("two requests ask at one time");
      const beside = verb === "renew" && sent.untilMs > request.nowMs + 1100 && this.storeIsRight;
      if (beside && !request.isBlocked) this.checkBeside(isolate, request);
      const open = { verb, isSettled: false };
      request.isAsking = true;
      isolate.number = open.number = (isolate.number ?? 0) + 1;
      if (beside) isolate.renewal = { atMs: this.ms, request, isOver: () => open.isSettled || signal.aborted };
      return new Promise((resolve, reject) => {
        const settle = (how, value) =>
          this.after(this.delay(), () =>
            this.enter(request, () => {
              if (open.isSettled) return;
              open.isSettled = true;
              request.isAsking = false;
              if (signal.aborted) this.sometimes("an answer comes after its time-out");
              if (value?.granted && open.number !== isolate.number)
                this.sometimes("an answer is not that to the last request");
              if (request.hasEnded && value?.granted) this.sometimes("a request ends before its renewal is answered");
              if (request.isCancelled) this.sometimes("background work of a cancelled request goes on");
              how(value);
            }),
          );
        signal.addEventListener("abort", () => {
          request.isAsking = false;
        });
        const kind = this.faults ? random.next() : 1;
        this.after(this.delay(), async () => {
          if (this.ms < this.storeAwayUntilMs) return;
          if (this.ms < this.storeFailsUntilMs) {
            this.sometimes("the store fails for a while");
            settle(reject, new Error("overloaded"));
            return;
          }
          if (kind < 0.05) {
            this.sometimes("a request is lost");
            return;
          }
          const result = await this.execute(request.name, verb, sent, (outcome) => {
            if (kind < 0.1) this.sometimes("an answer is lost");
            else if (kind < 0.13 || outcome instanceof Error) {
              this.sometimes("the store fails");
              settle(reject, outcome instanceof Error ? outcome : new Error("connection reset"));
            } else settle(resolve, outcome);
          });
          if (result?.granted) this.granted(isolate, result);
          if (verb !== "release" && isolate.released?.has(sent.grant) && result?.granted === false)
            this.sometimes("a late request after a release is refused");
          if (verb === "release") {
            isolate.released ??= new Set();
            isolate.released.add(sent.grant);
          }
          if (kind >= 0.13 && kind < 0.18) {
            this.sometimes("a request is carried out twice");
            this.after(this.delay(), () => this.execute(request.name, verb, sent, () => {}));
          }
        });
      });
    };
    return { name: "simulated", identity: isolate, ...Object.fromEntries(VERBS.map((verb) => [verb, call(verb)])) };
  }

  granted(isolate, { node }) {
    this.owners ??= new Map();
    const owner = this.owners.get(node);
    if (owner !== undefined && owner !== isolate) this.sometimes("a node id has another isolate");
    this.owners.set(node, isolate);
  }

  /** While a lease is held, one request has it renewed. Others may when the time of that attempt is over. */
  checkBeside(isolate, request) {
    this.sometimes("a renewal is begun beside a request");
    const { renewal } = isolate;
    if (renewal === undefined || renewal.isOver()) return;
    if (renewal.request.isCancelled || !renewal.request.isAlive)
      this.sometimes("another request renews after one that was cancelled");
    // The clock of the isolate tells when the time of an attempt is over.
    if (isolate.clockSetMs >= renewal.atMs) return;
    // The clock of the one that began it may have been ahead of this one's.
    if (this.ms - renewal.atMs < this.timeoutMs - 2 * STEP_BACK_MS)
      this.fail(`${request.name} renews beside ${renewal.request.name}, ${this.ms - renewal.atMs} ms after it`);
  }

  /** Checks IDs of a request. */
  check(request, ids, isSync) {
    const { isolate } = request;
    const wrong = this.ids.check(isolate.name, isolate.grants, ids);
    if (wrong !== undefined) this.fail(wrong);
    if (ids.length > 300) this.sometimes("a clock stands still over many IDs");
    if (!isSync || isolate.options.sequenceStart === "wrap") return;
    for (const id of ids) {
      if (id <= isolate.last) this.fail(`${request.name}: not in order`);
      isolate.last = id;
    }
  }

  checkError(request, error) {
    if (error === this.failure) throw error;
    const { code } = error;
    this.step(`${request.name}: ${error.message}`);
    if (!ORDINARY.has(code)) this.fail(`${request.name}: ${error.stack}`);
    if (code === "LEASE_EXPIRED" || code === "LEASE_LOST") this.sometimes(code);
    if (code === "CLOSED" && !request.isolate.wasClosed) this.fail(`${request.name}: CLOSED, and it was not closed`);
    if (code === "CLOCK_BACKWARD") this.sometimes("a clock is behind the window");
  }

  /** A request to the Worker. */
  request(isolate, { isLast = false } = {}) {
    const { random } = this;
    const request = new Request(isolate, `${isolate.name}.${++this.names}`);
    isolate.requests.add(request);
    const { maxAsyncWaitMs } = isolate.options;
    // leased(), some I/O, and nextAsync(); the timers of each may be late by an attempt.
    const limitMs = 2 * maxAsyncWaitMs + 2 * this.timeoutMs + 1000;
    this.after(limitMs, () => {
      if (!request.hasEnded && !request.isCancelled && !isolate.isEvicted) this.fail(`${request.name} hangs`);
      isolate.requests.delete(request);
    });
    if (this.faults && random.chance(0.2)) this.cancelLater(request);
    this.begin(
      request,
      () => this.handle(request, isLast),
      (_, error) => this.checkError(request, error),
    );
    return request;
  }

  async handle(request, isLast) {
    const { random } = this;
    const { isolate } = request;
    const ctx = random.chance(0.5) ? { waitUntil: (promise) => this.keep(promise) } : undefined;
    const options = random.chance(0.5) ? isolate.options : { ...isolate.options };
    const call = () => (ctx ? isolate.leased(isolate.store, ctx, options) : isolate.leased(isolate.store, options));
    // A call of the same request that is made inside of the next one, if microtasks run there.
    const other = random.chance(0.3) && Promise.resolve().then(call);
    if (other) other.catch(() => {});
    const got = call();
    let ids = got;
    if (got instanceof Promise) {
      this.sometimes("a request waits for a lease");
      request.isBlocked = true;
      try {
        ids = await got;
      } catch (error) {
        this.sometimes("leased() gives up");
        throw error;
      } finally {
        request.isBlocked = false;
      }
    } else {
      this.sometimes("a generator is returned without a promise");
      this.sync++;
    }
    if (other) {
      request.isBlocked = true;
      const same = await other.catch((error) => this.checkError(request, error));
      request.isBlocked = false;
      if (same && same !== ids && !isolate.wasClosed) this.fail(`${request.name} got two generators`);
    }
    if (isolate.generator !== ids) {
      if (isolate.generator !== undefined) {
        if (!isolate.wasClosed) this.fail(`${request.name} got another generator`);
        this.sometimes("a generator follows one that was closed");
        isolate.last = -1n;
      }
      isolate.generator = ids;
      for (const event of ["acquired", "renewed", "lost", "refused"]) {
        ids.on(event, (detail) => {
          this.step(`${isolate.name}: ${event} ${detail.message ?? JSON.stringify(detail)}`);
          this.sometimes(event);
        });
      }
    }
    const mint = (count) => {
      if (ids !== isolate.generator) return;
      try {
        this.check(request, count > 10 ? ids.nextMany(count) : Array.from({ length: count }, () => ids.next()), true);
      } catch (error) {
        if (error.code === undefined) throw error;
        if (isLast && error.code !== "SEQUENCE_EXHAUSTED" && error.code !== "CLOCK_BACKWARD") throw error;
        this.checkError(request, error);
      }
    };
    mint(random.one([1, 3, 6, 400]));
    if (isLast) {
      // With the time of a wrong clock there is nothing to mint for a while.
      request.hasMinted = true;
      return;
    }
    // Some I/O, after which the clock has moved on.
    if (random.chance(0.5)) {
      request.isPausing = true;
      const pauseMs = random.one([1, 20, 300]);
      await new Promise((resolve) => this.timer(resolve, pauseMs));
      request.isPausing = false;
      const { attempts } = ids.stats().lease;
      mint(random.one([1, 3]));
      queueMicrotask(() => {
        if (!this.failure && ids.stats().lease.attempts > attempts)
          this.sometimes("a refused call has the store asked");
      });
    }
    if (random.chance(0.4)) {
      const beganMs = this.ms;
      const isClosed = isolate.wasClosed;
      request.isBlocked = true;
      try {
        const minted = await ids.nextManyAsync(random.one([1, 10]));
        if (!isClosed && ids === isolate.generator) this.check(request, minted, false);
        if (this.ms - beganMs > 5) this.sometimes("nextAsync() waits for a lease");
      } finally {
        request.isBlocked = false;
      }
    }
  }

  newIsolate() {
    const { random } = this;
    const aheadMs = random.chance(0.5) ? 0 : this.scale * random.one([-4000, -1500, -50, 50, 1500, 4000]);
    if (aheadMs > this.windowMs) this.sometimes("a clock is a window ahead");
    const isolate = new LeasingIsolate(this, `i${++this.names}`, aheadMs);
    this.isolates.push(isolate);
    this.step(`${isolate.name} begins, ${aheadMs} ms ahead ${JSON.stringify(isolate.options)}`);
    return isolate;
  }

  stepClock(isolate) {
    const { random } = this;
    const stepMs = this.scale * random.one([-5000, -1500, -50, 50, 1500, 5000]);
    isolate.setClock(random.chance(0.3) ? 0 : isolate.aheadMs + stepMs);
    this.step(`the clock of ${isolate.name} is ${isolate.aheadMs} ms ahead`);
  }

  storeLosesWrites() {
    if (this.batch.length === 0) super.storeLosesWrites();
  }

  close(isolate) {
    const { generator } = isolate;
    if (generator === undefined) return;
    const request = new Request(isolate, `${isolate.name}.close`);
    isolate.requests.add(request);
    this.after(0, () =>
      this.enter(request, () => {
        if ([...isolate.requests].some((other) => other.isAlive && other.isAsking))
          this.sometimes("close() while requests ask");
        this.step(`${isolate.name}: close()`);
        isolate.wasClosed = true;
        generator.close().then(
          () => {
            request.hasEnded = true;
          },
          (error) => {
            this.failure ??= error;
          },
        );
        if (generator.node !== undefined) this.fail("a node id after close()");
      }),
    );
  }
}

const ACTIONS = {
  request: 40,
  burst: 14,
  addIsolate: 4,
  evictOne: 3,
  close: 2,
  stepClock: 4,
  storeAway: 2,
  storeFails: 2,
  abortObject: 3,
  storeLosesWrites: 1,
  stepStoreClock: 1,
};

/** Runs a seed. Returns what happened in it. */
export async function simulate(seed, { evaluate, log }) {
  const w = new World(seed, evaluate, log);
  w.newIsolate();
  w.newIsolate();
  await w.happen(70, 400, ACTIONS, () => w.isolates);
  // The faults stop, the clocks are set right, and every isolate mints again.
  w.calm();
  // At most as many as there are node ids.
  for (const isolate of w.isolates.slice(3)) w.evict(isolate);
  await w.advance(20_000 * w.scale);
  for (const isolate of w.isolates) {
    let request;
    // The first ones, which may wait for 200 ms only, find that writes were lost, and the fence has to pass.
    for (let left = 8; left > 0 && !request?.hasMinted; left--) {
      request = w.request(isolate, { isLast: true });
      await w.advance(5500 + 2 * w.timeoutMs);
    }
    if (!request.hasMinted) w.fail(`${isolate.name} does not mint again`);
  }
  for (const isolate of w.isolates) w.close(isolate);
  await w.advance(2 * w.timeoutMs + 100);
  return { seen: w.seen, ids: w.ids.size, most: w.most, asks: w.asks, sync: w.sync };
}

/** The client, or one that is broken. */
const load = async (broken) => ({ evaluate: await compile("workers/leased.ts", broken) });

if (process.argv[1] === import.meta.filename) await main({ simulate, broken: BROKEN, load });
