// Isolates of Cloudflare Workers in fake time, which the simulations of what runs in them share.
//
// As in the runtime: the clock stands still within an event, and shows different times to two requests; what a request waits for is
// lost when it is cancelled, and when it has ended, unless `waitUntil` keeps it; isolates end without notice; and microtasks may run
// inside of a call. workerd (2026-11-17) runs them where an isolate reads `globalThis.process` for the first time, unless the code
// that reads it is in a microtask itself. Here they run at the first random number of a request too.
import { AsyncLocalStorage } from "node:async_hooks";
import { SimulatedWorld, START_MS } from "../world.mjs";

/** How far the clock of an event may be behind that of the one before. */
export const STEP_BACK_MS = 200;

/** The request whose code runs. */
const context = new AsyncLocalStorage();

/** A request to the Worker: what it waits for lives as long as it does. */
export class Request {
  isCancelled = false;
  cancelledMs = -Infinity;
  hasEnded = false;
  /** Whether what `waitUntil` keeps goes on when it is cancelled. */
  goesOn = false;
  /** Promises that `waitUntil` keeps. */
  kept = 0;
  asked = 0;
  askedFirstMs;
  /** What its clock showed last. */
  nowMs = 0;
  /** Whether it has drawn random numbers. */
  hasDrawn = false;
  isAsking = false;
  isPausing = false;

  constructor(isolate, name) {
    this.isolate = isolate;
    this.name = name;
  }

  /** Whether its timers run, and what it asked for is heard. */
  get isAlive() {
    if (this.isolate.isEvicted) return false;
    if (this.isCancelled) return this.goesOn && this.kept > 0;
    return !this.hasEnded || this.kept > 0;
  }
}

/** An isolate, which evaluates the script of its world. */
export class Isolate {
  isEvicted = false;
  requests = new Set();
  /** What the clock of a request showed last. */
  lastMs = 0;
  /** When its clock was set last. */
  clockSetMs = -Infinity;

  constructor(world, name, aheadMs) {
    this.name = name;
    this.aheadMs = aheadMs;
    this.world = world;
  }

  setClock(aheadMs) {
    this.aheadMs = aheadMs;
    this.clockSetMs = this.world.ms;
  }

  /** Evaluates the script, and returns its exports. */
  evaluate() {
    const { world } = this;
    const { random } = world;
    const now = () => world.clock();
    class IsolateDate extends Date {
      static now = now;
    }
    let hasProcess = false;
    const openSync = () => {
      throw Object.assign(new Error("no such file or directory"), { code: "ENOENT" });
    };
    const performance = { now, timeOrigin: 0 };
    const crypto = {
      getRandomValues: (array) => {
        for (let at = 0; at < array.length; at++) array[at] = random.below(2 ** 32);
        const request = world.entered();
        if (!request.hasDrawn) world.runMicrotasks();
        request.hasDrawn = true;
        return array;
      },
    };
    const runtime = {
      Date: IsolateDate,
      setTimeout: (run, ms = 0) => world.timer(run, ms),
      clearTimeout: (timer) => timer && world.clear(timer),
      queueMicrotask,
      crypto,
      globalThis: {
        crypto,
        performance,
        get process() {
          if (!hasProcess) world.runMicrotasks();
          hasProcess = true;
          return { getBuiltinModule: () => ({ openSync }) };
        },
      },
    };
    return world.evaluate({ waitUntil: (promise) => world.keep(promise) }, runtime);
  }
}

/** A world of isolates. */
export class WorkersWorld extends SimulatedWorld {
  isolates = [];
  names = 0;
  /** How many requests to the store one request has made at most. */
  most = 0;
  /** How many requests to the store there were, and how many calls to the Worker that had what they wanted at once. */
  asks = 0;
  sync = 0;

  /** `evaluate` is the compiled script, and `options` are those of any world. */
  constructor(seed, { evaluate, ...options }) {
    super(seed, options);
    this.evaluate = evaluate;
  }

  burst(isolate) {
    for (let left = 2 + this.random.below(5); left > 0; left--) this.request(isolate);
  }

  addIsolate() {
    if (this.isolates.length < 5) this.newIsolate();
  }

  evictOne(isolate) {
    if (this.isolates.length > 1) this.evict(isolate);
  }

  calm() {
    super.calm();
    for (const isolate of this.isolates) isolate.setClock(0);
  }

  /** The request whose event this is. Code of another one runs in it only if they share a promise. */
  entered() {
    const request = context.getStore();
    if (request !== this.current)
      this.fail(`code of ${request?.name} runs in an event of ${this.current?.name}: they share a promise`);
    return request;
  }

  clock() {
    return this.entered().nowMs;
  }

  keep(promise) {
    const request = this.entered();
    request.kept++;
    const over = () => {
      request.kept--;
    };
    promise.then(over, over);
  }

  after(ms, run) {
    return this.add({ atMs: this.ms + ms, run });
  }

  timer(run, ms) {
    const request = this.entered();
    const delayMs = Math.max(1, Number(ms) || 0);
    const leastMs = request.nowMs + delayMs;
    return this.add({ atMs: this.ms + delayMs, run: () => this.enter(request, run, leastMs), request });
  }

  clear(timer) {
    const request = this.entered();
    if (timer.request !== request) this.fail(`${request?.name} clears a timer of ${timer.request.name}`);
    this.remove(timer);
  }

  /** Runs the microtasks of the event that is under way, unless the caller is one of them, as workerd does inside of some calls. */
  runMicrotasks() {
    // There is no public call for that. `vm` has one, for contexts with their own globals.
    process._tickCallback();
  }

  /** Runs code in an event of a request, if it is alive, and everything that follows from it. */
  async enter(request, run, leastMs = 0) {
    if (!request.isAlive) return;
    const { isolate } = request;
    const backMs = this.random.chance(0.2) ? this.random.below(STEP_BACK_MS) : 0;
    const nowMs = Math.floor(START_MS + this.ms + isolate.aheadMs) - backMs;
    // A request does not see its own clock go back.
    request.nowMs = Math.max(nowMs, request.nowMs, leastMs);
    if (request.nowMs < isolate.lastMs) this.sometimes("the clock goes back between two requests");
    isolate.lastMs = request.nowMs;
    await this.turn(request, () => context.run(request, run));
  }

  /** How long a message is on its way. */
  delay() {
    const { random, scale } = this;
    return this.faults && random.chance(0.12) ? random.below(1500 * scale) : 1 + random.below(20);
  }

  /** Ends an isolate. */
  evict(isolate) {
    this.step(`${isolate.name} is evicted`);
    this.sometimes("an isolate is evicted");
    isolate.isEvicted = true;
    this.isolates = this.isolates.filter((other) => other !== isolate);
  }

  /** Cancels a request some time later, if it has not ended. */
  cancelLater(request) {
    const { random } = this;
    this.after(random.below(random.one([30, 1500])), () => {
      if (request.hasEnded || request.isCancelled) return;
      this.step(`${request.name} is cancelled`);
      if (request.isAsking) this.sometimes("a request is cancelled while it asks");
      else if (request.isPausing) this.sometimes("a request is cancelled while it pauses");
      request.isCancelled = true;
      request.cancelledMs = this.ms;
      request.goesOn = random.chance(0.5);
    });
  }

  /** Handles a request in its own event. `failed` is given what `handle` threw. */
  begin(request, handle, failed) {
    const ended = () => {
      request.hasEnded = true;
      // The runtime ends what it keeps some time later.
      this.after(30_000, () => {
        request.kept = 0;
      });
    };
    this.after(0, () =>
      this.enter(request, () => {
        handle(request).then(ended, (error) => {
          ended();
          try {
            failed(request, error);
          } catch {
            // kept by `fail`
          }
        });
      }),
    );
  }
}
