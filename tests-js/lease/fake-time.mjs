// Time that a test moves: `Date.now`, `performance.now` and all timers. Import it before anything that keeps a reference to one of
// them, and call `install()`.

/** Runs after all promises that can go on have done so. */
const settled = () => new Promise((resolve) => realSetImmediate(resolve));
const realSetImmediate = setImmediate;

export class FakeTime {
  /** True time, in milliseconds since the start. */
  ms = 0;
  /** What the wall clock shows at true time 0. */
  wallStartMs = 1_780_000_000_000;
  #timers = new Map();
  #serial = 0;

  install() {
    const set =
      (repeats) =>
      (run, delayMs = 0, ...args) => {
        const everyMs = Math.max(1, Number(delayMs) || 0);
        const timer = {
          id: ++this.#serial,
          atMs: this.ms + everyMs,
          run: () => run(...args),
          refed: true,
          repeats,
          everyMs,
        };
        const handle = {
          timer,
          ref: () => Object.assign(timer, { refed: true }) && handle,
          unref: () => Object.assign(timer, { refed: false }) && handle,
          hasRef: () => timer.refed,
          [Symbol.toPrimitive]: () => timer.id,
        };
        this.#timers.set(timer.id, timer);
        return handle;
      };
    const clear = (handle) => void this.#timers.delete(handle?.timer?.id);
    const clocks = { setTimeout: set(false), setInterval: set(true), clearTimeout: clear, clearInterval: clear };
    const kept = Object.fromEntries(Object.keys(clocks).map((name) => [name, globalThis[name]]));
    const [now, monotonic] = [Date.now, performance.now];
    Object.assign(globalThis, clocks);
    Date.now = () => this.wallMs();
    performance.now = () => this.monotonicMs();
    return () => {
      Object.assign(globalThis, kept);
      Date.now = now;
      performance.now = monotonic;
    };
  }

  wallMs() {
    return Math.floor(this.wallStartMs + this.ms);
  }

  monotonicMs() {
    return this.ms;
  }

  /** The timers that are set: how many there are, and how many hold the process. */
  get pending() {
    const timers = [...this.#timers.values()];
    return { timers: timers.length, holding: timers.filter(({ refed }) => refed).length };
  }

  /** Moves time on by so much, and runs what is due. */
  async advance(ms) {
    const endMs = this.ms + ms;
    await settled();
    for (;;) {
      const [next] = [...this.#timers.values()].sort((a, b) => a.atMs - b.atMs || a.id - b.id);
      if (next === undefined || next.atMs > endMs) break;
      this.ms = Math.max(this.ms, next.atMs);
      if (next.repeats) next.atMs += next.everyMs;
      else this.#timers.delete(next.id);
      next.run();
      await settled();
    }
    this.ms = endMs;
    await settled();
  }

  /** Moves time on until a promise is settled, and returns its result, or throws. */
  async until(promise, limitMs = 600_000) {
    let outcome;
    promise.then(
      (value) => {
        outcome = { value };
      },
      (error) => {
        outcome = { error };
      },
    );
    const endMs = this.ms + limitMs;
    await settled();
    while (outcome === undefined) {
      if (this.ms >= endMs) throw new Error(`still pending after ${limitMs} ms`);
      await this.advance(1);
    }
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  }
}
