// A deterministic simulation of `segmented()` on Cloudflare Workers: isolates, each with its own WebAssembly instance, two tags of a store,
// and a network between them, in fake time. What happens follows from a seed.
//
//   node tests-js/simulations/segmented/simulation.mjs SEED [NAME]    replays a seed, with a line for each step,
//                                                                        on a client or a store of broken.mjs
//
// ../workers/isolates.mjs has the runtime, and store.mjs the store.
//
// Checked in every run: no number twice; each number in a range that was allocated to its isolate; the numbers of an isolate increase;
// a call whose numbers are there does not wait, and any other ends in time unless its request is cancelled; no code of one request
// runs in an event of another, as it does where requests share a promise; a bounded number of requests to the store, of a request and
// of an attempt, none for more than the step and what living requests want; after the faults stop, every isolate hands out numbers of
// each tag, and none waits long where the store loses single tries; and every range that was allocated to an isolate that lives is
// handed out whole, or there is a cause why not: a failover, a clock that was set, a request that the store carried out twice, after
// its time or after the next attempt began, an answer that cannot be true, `close()`.

import { main } from "../main.mjs";
import { compile } from "../workers/isolate-code.mjs";
import { Request } from "../workers/isolates.mjs";
import { BROKEN } from "./broken.mjs";
import { CallsWorld } from "./calls.mjs";
import { DrawingIsolate, TAGS } from "./drawing-isolate.mjs";
import { LATER } from "./store.mjs";

class World extends CallsWorld {
  holes = 0;
  /** How many ranges were lost since a try was carried out after the next attempt had begun. */
  leftovers = 0;
  /** The holders whose segments were closed. */
  closed = new Set();

  newIsolate() {
    const { random } = this;
    const aheadMs = random.chance(0.5) ? 0 : random.one([-4000, -1500, -50, 50, 1500, 4000]);
    const isolate = new DrawingIsolate(this, `i${++this.names}`, aheadMs);
    this.isolates.push(isolate);
    this.step(`${isolate.name} begins, ${aheadMs} ms ahead ${JSON.stringify([...isolate.options.values()])}`);
    return isolate;
  }

  evict(isolate) {
    for (const { numbers } of isolate.opened.values())
      if (numbers.stats().left > 0) this.sometimes("an isolate is evicted with numbers left");
    super.evict(isolate);
  }

  close(isolate) {
    const opened = isolate.opened.get(this.random.one(TAGS));
    if (opened === undefined || opened.isClosed) return;
    const request = new Request(isolate, `${isolate.name}.close`);
    this.after(0, () =>
      this.enter(request, () => {
        this.checkCounts(isolate, opened);
        this.shut(isolate, opened);
      }),
    );
  }

  shut(isolate, opened) {
    if (opened.isClosed) return;
    const { numbers } = opened;
    if (opened.waiting.size > 0) this.sometimes("close() while calls wait");
    this.step(`${isolate.name}: close() of ${numbers.tag}`);
    isolate.wasClosed = opened.isClosed = true;
    for (const holder of isolate.holders.get(numbers.tag) ?? []) this.closed.add(holder);
    numbers.close();
    // An answer or a failure that comes later changes nothing.
    const { problem } = numbers.stats();
    this.after(15_000, () => {
      const now = numbers.stats().problem;
      if (now !== problem) this.fail(`${isolate.name}: after close() of ${numbers.tag} its problem is ${now?.message}`);
    });
  }

  /** No number of a range that was taken may be lost. */
  checkCounts({ name }, { numbers, handed }) {
    const { allocated, left } = numbers.stats();
    if (allocated !== handed + left)
      this.fail(`${name}: ${handed} numbers of ${numbers.tag} were handed out and ${left} are left, of ${allocated}`);
  }

  /** Every range that was allocated to an isolate that lives was handed out, or there is a cause. */
  checkRanges(allocations) {
    for (const made of allocations) {
      const { isolate, tag, first, count, attempt, holder } = made;
      if (isolate.isEvicted || this.closed.has(holder)) continue;
      const handed = this.numbers.countIn(made);
      if (handed === count) continue;
      const cause = this.wronged.has(attempt) ? "an answer that cannot be true" : this.store.causeOf(made);
      const range = `${first} to ${first + BigInt(count) - 1n} of ${tag}, which was allocated to ${isolate.name}`;
      if (handed > 0) this.fail(`${handed} numbers were handed out of ${range}`);
      if (cause === undefined) this.fail(`nobody hands out ${range} for ${attempt.slice(0, 4)}`);
      this.sometimes("a range is allocated that its attempt does not wait for");
      this.holes += count;
      if (cause === LATER) this.leftovers++;
    }
  }

  stepClock(isolate) {
    const { random } = this;
    this.sometimes("a clock is set");
    isolate.setClock(random.chance(0.3) ? 0 : isolate.aheadMs + random.one([-5000, -1500, -50, 50, 1500, 5000]));
    this.step(`the clock of ${isolate.name} is ${isolate.aheadMs} ms ahead`);
  }

  storeMute() {
    const forMs = this.random.one([1000, 4000]);
    this.step(`the answers of the store are held up for ${forMs} ms`);
    this.storeMuteUntilMs = this.ms + forMs;
    this.sometimes("the answers of the store are held up");
  }

  abortObject() {
    this.step("the object is aborted");
    this.store.abort();
  }

  failOver() {
    this.step("the store fails over");
    this.store.failOver(this.random.below(4));
  }

  calm() {
    super.calm();
    this.storeMuteUntilMs = 0;
  }
}

const ACTIONS = {
  request: 50,
  burst: 16,
  addIsolate: 4,
  evictOne: 3,
  close: 2,
  stepClock: 2,
  storeAway: 2,
  storeMute: 2,
  storeFails: 2,
  abortObject: 4,
  failOver: 2,
};

/** Runs a seed. Returns what happened in it. */
export async function simulate(seed, { log, ...code }) {
  const w = new World(seed, code, log);
  const { random } = w;
  w.newIsolate();
  w.newIsolate();
  await w.happen(70, 400, ACTIONS, () => w.isolates);
  w.calm();
  await w.advance(20_000);
  w.losing = true;
  for (let action = 0; action < 20; action++) {
    await w.advance(random.below(400));
    const isolate = random.one(w.isolates);
    for (let left = 1 + random.below(6); left > 0; left--) w.request(isolate, { isSingle: true });
  }
  await w.advance(6000);
  w.losing = false;
  await w.advance(6000);
  // A range that is allocated while numbers are drained is not looked for. An attempt that had no answer is repeated when the numbers
  // are drained for the first time.
  let allocations;
  for (const given of [{ isLast: true }, { drains: true }, { drains: true }]) {
    if (given.drains) allocations ??= [...w.store.allocations];
    for (const isolate of w.isolates) {
      const request = w.request(isolate, given);
      await w.advance(5000);
      if (!request.hasDrawnAll) w.fail(`${isolate.name} does not hand out numbers again`);
      for (const opened of isolate.opened.values()) if (!opened.isClosed) w.checkCounts(isolate, opened);
    }
  }
  w.checkRanges(allocations);
  const { seen, asks, sync, most, mostLateMs, holes, leftovers, mostTries, mostHealthyMs } = w;
  const allocated = w.store.allocations.reduce((sum, { count }) => sum + count, 0);
  return {
    seen,
    numbers: w.numbers.size,
    ranges: w.store.allocations.length,
    allocated,
    holes,
    leftovers,
    asks,
    sync,
    most,
    mostLateMs,
    mostTries,
    mostHealthyMs,
  };
}

/** Compiles the client and the rules of the store, or what is broken of either. */
async function load({ client, store, defect } = {}) {
  const isolate = await compile("workers/index.ts", client);
  const rules = await compile("stores/kit/segment/rules.ts", store);
  return { isolate, store: rules({}, globalThis), defect };
}

if (process.argv[1] === import.meta.filename) await main({ simulate, broken: BROKEN, load });
