// The processes of the simulation: what they see of time, timers and random numbers, and what is known of their generators. Import it
// before the package.
//
// It runs on WebAssembly, where random numbers come from `crypto`. The native addon draws from the kernel.
import { running, START_MS } from "../world.mjs";

process.env.FRAZIL_BACKEND = "wasm";

const setTimer =
  (repeats) =>
  (run, delayMs = 0) => {
    const everyMs = Math.max(1, Number(delayMs) || 0);
    const event = { atMs: running.ms + everyMs, host: running.current, run, everyMs, repeats, isTimer: true };
    running.add(event);
    return { event, unref() {}, ref() {} };
  };
const clearTimer = (handle) => handle && running.remove(handle.event);
Object.assign(globalThis, {
  setTimeout: setTimer(false),
  setInterval: setTimer(true),
  clearTimeout: clearTimer,
  clearInterval: clearTimer,
});
Date.now = () => Math.floor(START_MS + (running?.ms ?? 0) + (running?.current?.wallAheadMs ?? 0));
performance.now = () => running.ms - (running.current?.suspendedMs ?? 0);
Object.defineProperty(crypto, "getRandomValues", {
  value: (array) => array.map((_, at) => (array[at] = running.random.below(2 ** 32))) && array,
});

export class Host {
  /** How far the wall clock is ahead of true time. */
  wallAheadMs = 0;
  /** How long the machine was suspended in all: monotonic time stood still. */
  suspendedMs = 0;
  /** Nothing runs before. */
  heldUntilMs = 0;
  /** The generators, open and closed. */
  generators = [];

  constructor(name) {
    this.name = name;
  }

  get open() {
    return this.generators.find(({ state }) => state === "open");
  }
}

/** A generator of a process, and what is known of it. */
export class Generator {
  state = "opening";
  ids;
  /** The grants it asked for. */
  grants = new Set();
  outstanding = new Set();
  requests = [];
  progress = 0;
  nodes = new Set();
  /** Calls that wait. */
  waiting = 0;
  last = -1n;
  isDead = false;

  constructor(host, options) {
    this.host = host;
    this.options = options;
    this.byCalls = options.renew === "calls";
  }
}
