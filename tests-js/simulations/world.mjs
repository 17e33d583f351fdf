// What the simulations in fake time share: seeded random numbers, and a world whose events run in the order of their times, with a
// store that is away or fails for a while.

/** Seeded random numbers (mulberry32). */
export function randomFrom(seed) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    below: (limit) => Math.floor(next() * limit),
    chance: (probability) => next() < probability,
    one: (list) => list[Math.floor(next() * list.length)],
  };
}

// Kept, since a simulation may replace it.
export const rightNow = setImmediate;

/** True time 0 in Unix milliseconds. */
export const START_MS = 1_780_000_000_000;

/** The world whose time passes. A simulation runs one after the other. */
export let running;
process.on("unhandledRejection", (error) => {
  if (running === undefined) throw error;
  running.failure ??= running.failureOf(`unhandled rejection: ${error?.stack ?? error}`);
});

/** Throws what was rejected after the last step of a simulation. */
export function failIfRejected() {
  if (running?.failure) throw running.failure;
}

/** The world of a seed. Its time passes only in `advance`. */
export class SimulatedWorld {
  ms = 0;
  /** Whose code runs. */
  current;
  events = [];
  #serial = 0;
  /** What has happened. */
  seen = new Set();
  faults = true;
  /** How many times slower everything is. */
  scale = 1;
  /** Until when the store answers no request. */
  storeAwayUntilMs = 0;
  /** Until when it answers with errors. */
  storeFailsUntilMs = 0;
  /** The first thing that was wrong. Kept, since the code under test may catch what is thrown. */
  failure;
  #log;
  #replay;
  #listed;
  #bound;

  /**
   * `name`: the folder of the simulation. `listed`: what may happen. `bound`: a time in words and in milliseconds, and whether the store
   * was away for longer is among that.
   */
  constructor(seed, { log, name, listed, bound }) {
    this.seed = seed;
    this.random = randomFrom(seed);
    this.#log = log;
    this.#replay = `tests-js/simulations/${name}/simulation.mjs`;
    this.#listed = listed;
    this.#bound = bound;
    running = this;
  }

  sometimes(what) {
    if (!this.#listed.includes(what)) throw new Error(`events.mjs does not list: ${what}`);
    this.seen.add(what);
  }

  step(text) {
    this.#log?.(`${this.ms.toFixed(0).padStart(7)} ms  ${text}`);
  }

  fail(text) {
    this.failure ??= this.failureOf(text);
    throw this.failure;
  }

  failureOf(text) {
    return new Error(`seed ${this.seed}, ${this.ms} ms: ${text}\nTo replay it: node ${this.#replay} ${this.seed}`);
  }

  /**
   * Lets that many things happen, each some time after the one before. `weights`: by the names of methods, how often each is drawn. A
   * method is given the one that it happens to.
   */
  async happen(count, pauseMs, weights, everyone) {
    const names = Object.entries(weights).flatMap(([name, weight]) => Array(weight).fill(name));
    for (let left = count; left > 0; left--) {
      await this.advance(this.random.below(pauseMs * this.scale));
      this.checkBetween();
      const name = this.random.one(names);
      await this.act(name, this.random.one(everyone()));
    }
  }

  act(name, who) {
    return this[name](who);
  }

  /** What is checked between two things that happen. */
  checkBetween() {}

  storeAway() {
    const forMs = this.scale * this.random.one([200, 1000, 4000, 7000]);
    this.step(`the store is away for ${forMs} ms`);
    this.storeAwayUntilMs = this.ms + forMs;
    const { words, ms } = this.#bound;
    if (forMs > ms) this.sometimes(`the store is away for longer than ${words}`);
  }

  storeFails() {
    const forMs = this.scale * this.random.one([200, 4000]);
    this.step(`the store fails for ${forMs} ms`);
    this.storeFailsUntilMs = this.ms + forMs;
  }

  /** The faults stop. */
  calm() {
    this.step("the faults stop");
    this.faults = false;
    this.storeAwayUntilMs = 0;
    this.storeFailsUntilMs = 0;
  }

  /** Adds an event: what to `run`, and `atMs` when. */
  add(event) {
    event.serial = ++this.#serial;
    this.events.push(event);
    return event;
  }

  remove(event) {
    const at = this.events.indexOf(event);
    if (at >= 0) this.events.splice(at, 1);
  }

  /** Runs code as that of somebody, and everything that follows from it in the same turn. */
  async turn(current, code) {
    this.current = current;
    try {
      // Not in a microtask, in which the microtasks that follow could not be run before it ends.
      await new Promise((resolve, reject) => {
        rightNow(() => {
          try {
            code();
            rightNow(resolve);
          } catch (error) {
            reject(error);
          }
        });
      });
    } finally {
      this.current = undefined;
    }
    if (this.failure) throw this.failure;
  }

  /** When an event can run. */
  dueMs({ atMs }) {
    return atMs;
  }

  runEvent(event) {
    return event.run();
  }

  /** Lets time pass, and runs what is due. */
  async advance(ms) {
    const endMs = this.ms + ms;
    for (;;) {
      let next;
      let nextMs;
      for (const event of this.events) {
        const dueMs = this.dueMs(event);
        const order = next && (dueMs - nextMs || event.atMs - next.atMs || event.serial - next.serial);
        if (!next || order < 0) [next, nextMs] = [event, dueMs];
      }
      if (next === undefined || nextMs > endMs) break;
      this.ms = Math.max(this.ms, nextMs);
      if (next.repeats) next.atMs = this.ms + next.everyMs;
      else this.remove(next);
      await this.runEvent(next);
      if (this.failure) throw this.failure;
    }
    this.ms = endMs;
  }
}
