// What the simulations in fake time share: seeded random numbers, and a world whose events run in the order of their times.

/** Seeded random numbers (mulberry32). */
function randomFrom(seed) {
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

/** The world whose time passes. A simulation runs one after the other. */
let running;
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
  /** The first thing that was wrong. Kept, since the code under test may catch what is thrown. */
  failure;
  #log;
  #replay;
  #listed;

  /** `replay`: the file that replays a seed. `listed`: what may happen. */
  constructor(seed, { log, replay, listed }) {
    this.seed = seed;
    this.random = randomFrom(seed);
    this.#log = log;
    this.#replay = replay;
    this.#listed = listed;
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
