// The leases of the simulations: a store in memory whose clock is set and which loses writes, and the IDs that were minted under them.
import { Layout } from "frazil";
import { FaultyStore } from "../lease/faulty-store.mjs";
import { IssuedIds } from "./ids.mjs";
import { START_MS } from "./world.mjs";

export const SCOPE = "simulated";
export const VERBS = ["acquire", "renew", "release", "ensure"];
/** What must have happened in some run of leases. */
export const LEASE_EVENTS = [
  "an acquire is repeated after a lost answer",
  "a renewal is fenced",
  "a renewal is taken",
  "every node id is held",
  "a fence is raised",
  "the store loses writes",
  "the store is away for longer than a window",
];
/** The shortest window. Every fourth seed has one that is ten times as long, with everything else slowed down as well. */
const SHORT_MS = 3000;

/** Every fourth seed is slower. */
export const scaleOf = (seed) => (seed % 4 === 3 ? 10 : 1);
export const windowOf = (seed) => SHORT_MS * scaleOf(seed);

/** A world with a store of few node ids. `Base` is the class of the world, and `layout` that of the IDs. */
export const withLeases = (Base, layout) =>
  class extends Base {
    #aheadMs = 0;
    #saved;
    #savedMs;

    constructor(seed, options) {
      super(seed, { ...options, bound: { words: "a window", ms: windowOf(seed) } });
      this.scale = scaleOf(seed);
      this.windowMs = windowOf(seed);
      this.timeoutMs = this.windowMs / 10;
      this.leases = FaultyStore.with({
        now: () => Math.floor(START_MS + this.ms + this.#aheadMs),
        scope: SCOPE,
        layout,
        nodes: { from: 0, to: 2 + this.random.below(3) },
        windowMaxMs: this.windowMs,
      });
      this.ids = new IssuedIds(Layout.named(layout), this.leases.grants);
    }

    /** Whether the clock of the store is right. */
    get storeIsRight() {
      return this.#aheadMs === 0;
    }

    /** Carries out a holder's request, and checks the outcome. */
    async carryOut(name, verb, request) {
      const { leases, ids } = this;
      leases.calls.length = 0;
      const isRepeated =
        verb === "acquire" && [...leases.rows(SCOPE).values()].some(({ grant }) => grant === request.grant);
      const fenceMs = leases.fenceMs(SCOPE);
      const result = await leases[verb](request);
      this.step(`store: ${verb} of ${name}: ${JSON.stringify(result)}`);
      if (isRepeated) this.sometimes("an acquire is repeated after a lost answer");
      else if (verb === "acquire" && result.granted && ids.lastMs.get(result.node) >= result.fromMs)
        this.fail(`the window of ${name} begins before the end of what was minted`);
      if (verb === "ensure" && leases.fenceMs(SCOPE) > fenceMs) this.sometimes("a fence is raised");
      if (verb === "renew" && result.reason === "fenced") this.sometimes("a renewal is fenced");
      if (verb === "renew" && result.reason === "taken") this.sometimes("a renewal is taken");
      if (verb === "acquire" && result.reason === "exhausted") this.sometimes("every node id is held");
      return result;
    }

    storeLosesWrites() {
      if (this.#saved && this.ms - this.#savedMs < 4000 * this.scale) {
        this.step("the store loses its last writes");
        this.sometimes("the store loses writes");
        this.leases.restore(this.#saved);
        this.leases.failOver();
        this.#saved = undefined;
      } else {
        this.#saved = this.leases.save();
        this.#savedMs = this.ms;
      }
    }

    stepStoreClock() {
      // Not at the same time as lost writes: that is not guaranteed.
      if (this.seed % 2 === 0) return;
      this.#aheadMs += this.scale * this.random.one([-2000, -500, 500, 2000]);
      this.step(`the store's clock is ${this.#aheadMs} ms ahead`);
    }

    calm() {
      super.calm();
      this.#aheadMs = 0;
    }
  };
