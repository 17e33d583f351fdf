// A deterministic simulation of `segmented()` on Cloudflare Workers: isolates, each with a WebAssembly instance of its own, two tags of
// a store, and a network between them, in fake time. What happens follows from a seed.
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

import { compile } from "../workers/isolate-code.mjs";
import { Isolate, Request, STEP_BACK_MS, WorkersWorld } from "../workers/isolates.mjs";
import { SOMETIMES } from "./events.mjs";
import { HandedOut } from "./numbers.mjs";
import { LATER, SimulatedStore } from "./store.mjs";

const TAGS = ["orders", "invoices"];
/** How long a try may take. */
const TRY_MS = 3000;
/** How much longer than its time a call may take. Measured: at most 38 ms in 300 seeds. */
const SLACK_MS = 50;
/** How long a call for one number may take where the store is healthy and loses single tries. */
const HEALTHY_MS = 1500;
/** What the client gives a try at least before the next attempt begins, after an answer to another one. */
const MIN_PATIENCE_MS = 50;
/** How many tries an attempt may have at once, and how many more in each second. */
const [MAX_TRIES, MORE_TRIES] = [6, 3];
/** How long a request may count that was cancelled: with what it has asked for. */
const GONE_MS = 5000;
/** The same where the clock was set meanwhile. */
const SET_MS = 10_000;
/** How many requests to the store one request to the Worker may make. Measured: at most 24 in 300 seeds. */
const MAX_ASKED = 60;

const ORDINARY = new Set(["SEGMENT_EXHAUSTED", "CLOSED"]);

/** What is open of a tag in an isolate. */
class Opened {
  isClosed = false;
  /** The largest number that was handed out. */
  last = -1n;
  handed = 0;
  /** The calls that wait: of which request, and for how many. */
  waiting = new Set();

  constructor(numbers) {
    this.numbers = numbers;
  }
}

class DrawingIsolate extends Isolate {
  /** By tag. */
  opened = new Map();
  /** Who asked the store, by tag. */
  holders = new Map();
  /** How many tries failed since a range was taken, at most, by tag. */
  failed = new Map();
  /** The attempt that was asked for last, by tag. */
  asking = new Map();
  /** By attempt: when it began and how many tries it had, what the clock of its first answer showed, and which one it followed. */
  attempts = new Map();
  /** The latest time that a clock of a request showed. */
  seenMs = 0;

  constructor(world, name, aheadMs) {
    super(world, name, aheadMs);
    const { random } = world;
    this.options = new Map(
      TAGS.map((tag) => [
        tag,
        {
          tag,
          maxStep: world.maxStep,
          step: random.one([1, 3, 10, 20]),
          growBelowMs: 1000,
          shrinkAboveMs: 4000,
          maxAsyncWaitMs: random.one([500, 1000, 5000]),
          ...(world.seed % 3 === 0 && { failoverSkip: world.skip }),
        },
      ]),
    );
    this.segmented = this.evaluate().segmented;
    this.store = world.storeOf(this);
  }

  countFailure(tag) {
    this.failed.set(tag, (this.failed.get(tag) ?? 0) + 1);
  }
}

class World extends WorkersWorld {
  storeAwayUntilMs = 0;
  /** Until then the store carries requests out, and its answers are held up. */
  storeMuteUntilMs = 0;
  storeFailsUntilMs = 0;
  tryMs = TRY_MS - STEP_BACK_MS;
  maxStep = 40;
  most = 0;
  mostLateMs = 0;
  asks = 0;
  sync = 0;
  holes = 0;
  /** How many ranges were lost since a try was carried out after the next attempt had begun. */
  leftovers = 0;
  mostTries = 0;
  mostHealthyMs = 0;
  /** Whether the store is healthy, and loses single tries. */
  losing = false;
  /** The answers of late. */
  answers = [];
  /** The attempts that were ended by an answer that cannot be true. */
  wronged = new Set();

  constructor(seed, { isolate, store }, log, defect) {
    super(seed, isolate, { log, replay: "tests-js/simulations/segmented/simulation.mjs", listed: SOMETIMES });
    this.skip = seed % 3 === 0 ? 200 : 10 * this.maxStep;
    this.store = new SimulatedStore(this, {
      rules: store,
      tags: TAGS,
      skip: this.skip,
      isTable: seed % 2 === 1,
      defect,
    });
    this.numbers = new HandedOut(this.store.allocations);
  }

  async enter(request, run, leastMs) {
    await super.enter(
      request,
      () => {
        const { isolate } = request;
        isolate.seenMs = Math.max(isolate.seenMs, request.nowMs);
        return run();
      },
      leastMs,
    );
  }

  /** Notes a try, of which there must be few, for no more than is wanted. */
  checkTry(isolate, { tag, attempt, count }) {
    const known = isolate.attempts.get(attempt);
    const before = isolate.asking.get(tag);
    const now = known ?? { beganMs: this.ms, seenMs: isolate.seenMs, tries: 0, before };
    if (known === undefined) {
      isolate.attempts.set(attempt, now);
      if (before !== undefined) isolate.attempts.get(before).next = now;
    }
    now.tries++;
    const seconds = (this.ms - now.beganMs) / 1000;
    if (isolate.clockSetMs > now.beganMs - GONE_MS) return;
    this.mostTries = Math.max(this.mostTries, now.tries - MORE_TRIES * seconds);
    if (now.tries > MAX_TRIES + MORE_TRIES * seconds)
      this.fail(`${isolate.name} tries ${now.tries} times for ${attempt.slice(0, 4)} of ${tag} in ${seconds} s`);
    const opened = isolate.opened.get(tag);
    if (known || opened === undefined) return;
    let wanted = 0;
    for (const { request, count } of opened.waiting)
      if (request.isAlive || request.cancelledMs > this.ms - GONE_MS) wanted += count;
    const most = Math.max(opened.numbers.stats().step, wanted);
    if (count > most) this.fail(`${isolate.name} asks for ${count} numbers of ${tag}, and wants ${most}`);
  }

  /** Whether an attempt was answered, and the next one began when the other tries of the first one had had their time. */
  isOver({ attempts }, attempt) {
    const { next, answeredMs } = attempts.get(attempt);
    return next !== undefined && next.seenMs - answeredMs >= MIN_PATIENCE_MS;
  }

  /** Also for longer than a try may take. */
  delay() {
    const { random } = this;
    return this.faults && random.chance(0.02) ? random.below(TRY_MS + 1000) : super.delay();
  }

  /** How long an answer is on its way. */
  answerDelay() {
    return Math.max(0, this.storeMuteUntilMs - this.ms) + this.delay();
  }

  /** The store as an isolate sees it, through a network with faults. */
  storeOf(isolate) {
    const allocate = (given) => {
      if (this.failure) return new Promise(() => {});
      const request = this.entered();
      const { signal, ...sent } = given;
      const { tag, attempt, holder } = sent;
      this.asks++;
      this.most = Math.max(this.most, ++request.asked);
      if (request.asked > MAX_ASKED) this.fail(`${request.name} asks the store ${request.asked} times`);
      this.step(`${request.name}: ${attempt.slice(0, 4)} of ${tag}, ${sent.count} above ${sent.above}`);
      const holders = isolate.holders.get(tag) ?? new Set();
      isolate.holders.set(tag, holders.add(holder));
      const asking = [...isolate.requests].some((other) => other !== request && other.isAlive && other.isAsking);
      if (asking && isolate.asking.get(tag) === attempt) this.sometimes("several requests ask for one range");
      this.checkTry(isolate, sent);
      isolate.asking.set(tag, attempt);
      if (!request.isBlocked) this.sometimes("the next range is fetched beside a request");
      request.isAsking = true;
      signal.addEventListener("abort", () => {
        request.isAsking = false;
      });
      const asked = { isolate, request, sent, signal, sentMs: this.ms };
      return new Promise((resolve, reject) => {
        let isSettled = false;
        this.after(this.tryMs, () => isSettled || isolate.countFailure(tag));
        const settle = (how, value, truth) =>
          this.after(this.answerDelay(), async () => {
            let look;
            await this.enter(request, () => {
              if (isSettled) return;
              isSettled = true;
              request.isAsking = false;
              if (value !== truth) isolate.countFailure(tag);
              look = this.answered(asked, value);
              how(value);
            });
            look?.();
          });
        const failed = (error) => settle(reject, error);
        if (this.store.isTable) this.readAndReplace(asked, (...answer) => settle(resolve, ...answer), failed);
        else this.deliver(asked, (...answer) => settle(resolve, ...answer), failed);
      });
    };
    return { name: "simulated", identity: isolate, allocate };
  }

  /** What an answer to an isolate shows. Returns what to look at when the isolate has it. */
  answered({ isolate, request, sent, signal }, value) {
    const { attempt, tag } = sent;
    const opened = isolate.opened.get(tag);
    if (request.isCancelled) this.sometimes("background work of a cancelled request goes on");
    if (value instanceof Error || opened === undefined || opened.isClosed) return undefined;
    if (request.hasEnded) this.sometimes("a request ends before its range is answered");
    const { ranges } = opened.numbers.stats();
    isolate.attempts.get(attempt).answeredMs ??= request.nowMs;
    if (signal.aborted) this.sometimes("an answer comes after its time-out");
    if (isolate.asking.get(tag) !== attempt)
      this.sometimes("an answer comes after its attempt is over, and another is under way");
    return () => {
      const isTaken = opened.numbers.stats().ranges > ranges;
      if (isTaken) isolate.failed.set(tag, 0);
      if (isTaken && signal.aborted) this.sometimes("a late answer is taken");
      if (!isTaken && isolate.asking.get(tag) === attempt)
        this.sometimes("an answer comes after another try of the attempt was answered");
    };
  }

  /** What becomes of a message to the store: runs `carryOut`, perhaps twice, or does not. `failed` is told of errors. */
  send(asked, carryOut, failed) {
    const { random } = this;
    const kind = this.faults ? random.next() : 1;
    const loss = this.lossOf(asked);
    if (loss === "request") return;
    this.after(this.delay() + (loss === "late" ? random.below(1000) : 0), () => {
      if (this.ms < this.storeAwayUntilMs) return;
      if (this.ms < this.storeFailsUntilMs) {
        this.sometimes("the store fails for a while");
        failed(new Error("overloaded"));
      } else if (kind < 0.04) this.sometimes("a request is lost");
      else if (kind < 0.06) {
        this.sometimes("the store fails");
        failed(new Error("connection reset"));
      } else {
        carryOut(asked, kind < 0.1 || loss === "answer");
        if (kind < 0.06 || kind >= 0.15) return;
        this.sometimes("a request is carried out twice");
        this.after(this.delay(), () => carryOut({ ...asked, isDouble: true }, true));
      }
    });
  }

  /** What is lost of a try where the store is healthy: of one try of an attempt at most. */
  lossOf({ isolate, sent }) {
    const { random } = this;
    const attempt = isolate.attempts.get(sent.attempt);
    if (!this.losing || attempt.hasLost || random.chance(0.7)) return undefined;
    attempt.hasLost = true;
    this.sometimes("a healthy store loses a try");
    return random.one(["request", "answer", "late"]);
  }

  /** Has the object carry out a request. */
  deliver(asked, answer, failed) {
    const carryOut = (asked, isLost) =>
      this.store.execute(asked, (outcome) => {
        if (asked.isDouble) return;
        if (isLost) this.sometimes("an answer is lost");
        else if (outcome instanceof Error) failed(outcome);
        else this.answer(asked, outcome, answer);
      });
    this.send(asked, carryOut, failed);
  }

  /** Has the client read the record of the table and replace it, as long as its request lives and waits. */
  readAndReplace(asked, answer, failed) {
    const { request, sent, signal } = asked;
    this.send(
      asked,
      ({ isDouble }, isLost) => {
        const seen = this.store.read(sent.tag);
        if (isDouble || isLost) return;
        this.after(this.delay(), () => {
          if (!request.isAlive) this.sometimes("a cancelled request leaves its replacement undone");
          return this.enter(request, () => {
            if (signal.aborted) return;
            const decided = this.store.decide(seen, sent);
            const replace = (asked, isLost) => {
              const isDone = this.store.replace(seen, decided, asked);
              if (asked.isDouble) return;
              if (isLost) this.sometimes("an answer is lost");
              else if (isDone) this.answer(asked, decided.allocation, answer);
              else
                this.after(this.delay(), () => this.enter(request, () => this.readAndReplace(asked, answer, failed)));
            };
            this.send(asked, replace, failed);
          });
        });
      },
      failed,
    );
  }

  /** Answers, perhaps with something else. */
  answer({ isolate, sent }, allocation, answer) {
    const { random, answers } = this;
    const kind = this.faults ? random.next() : 1;
    const other = random.one(answers);
    answers.push({ isolate, sent, allocation });
    if (answers.length > 8) answers.shift();
    if (kind < 0.03 && other && other.allocation.attempt !== sent.attempt) {
      this.sometimes("an answer to another attempt");
      isolate.isWronged = true;
      answer(other.allocation, allocation);
    } else if (kind < 0.045) {
      this.sometimes("an answer that cannot be true");
      isolate.isWronged = true;
      this.wronged.add(sent.attempt);
      answer(
        random.one([
          undefined,
          { ...allocation, first: 1 },
          { ...allocation, first: -1n },
          { ...allocation, count: 0 },
        ]),
        allocation,
      );
    } else answer(allocation, allocation);
  }

  /** A request to the Worker. */
  request(isolate, given = {}) {
    const { random } = this;
    const request = new Request(isolate, `${isolate.name}.${++this.names}`);
    isolate.requests.add(request);
    this.after(60_000, () => isolate.requests.delete(request));
    if ((this.faults || this.losing) && random.chance(0.2)) this.cancelLater(request);
    this.begin(
      request,
      () => this.handle(request, given),
      (_, error) => this.checkError(request, error),
    );
    return request;
  }

  checkError(request, error) {
    if (error === this.failure) throw error;
    const { code } = error;
    this.step(`${request.name}: ${error.message}`);
    if (error.message === "stop") this.sometimes("a signal ends a call");
    else if (code === "STORE_REFUSED" && request.isolate.isWronged) {
      if (request.asked === 0) this.sometimes("a refusal is told to a request that has not asked");
    } else if (!ORDINARY.has(code)) this.fail(`${request.name}: ${error.stack}`);
    else if (code === "SEGMENT_EXHAUSTED") this.sometimes("a call gives up");
    else if (!request.isolate.wasClosed) this.fail(`${request.name}: CLOSED, and it was not closed`);
  }

  /** The segment of a tag, as a request opens it. */
  open(request, tag) {
    const { isolate } = request;
    const { random } = this;
    const options = isolate.options.get(tag);
    const given = random.chance(0.5) ? options : { ...options };
    const ctx = random.chance(0.5) && { waitUntil: (promise) => this.keep(promise) };
    const numbers = ctx ? isolate.segmented(isolate.store, ctx, given) : isolate.segmented(isolate.store, given);
    const known = isolate.opened.get(tag);
    if (known?.numbers === numbers) return known;
    if (known && !known.isClosed) this.fail(`${request.name} got a second segment of ${tag}`);
    if (known) this.sometimes("a segment follows one that was closed");
    const opened = new Opened(numbers);
    // Also the next one begins above all that was handed out.
    opened.last = known?.last ?? -1n;
    isolate.opened.set(tag, opened);
    return opened;
  }

  async handle(request, { isLast, drains, isSingle }) {
    const { random } = this;
    const { isolate } = request;
    if (drains) {
      for (const opened of isolate.opened.values()) {
        const { left } = opened.numbers.stats();
        await this.call(request, opened, (numbers) => numbers.nextMany(left), left);
      }
      request.hasDrawnAll = true;
      return;
    }
    if (isLast) {
      for (const tag of TAGS) await this.call(request, this.open(request, tag), async ({ next }) => [await next()], 1);
      request.hasDrawnAll = true;
      return;
    }
    if (isSingle) {
      await this.call(request, this.open(request, random.one(TAGS)), async ({ next }) => [await next()], 1);
      return;
    }
    const tag = random.one(TAGS);
    // A call of the same request that is made inside of the next one, if microtasks run there.
    const other = random.chance(0.3) && Promise.resolve().then(() => this.open(request, random.one(TAGS)));
    const opened = this.open(request, tag);
    if (other) other.catch(() => {});
    if (random.chance(0.2)) {
      this.taken(request, opened, this.tried(opened));
      if (random.chance(0.5)) await this.pause(request, random.one([1, 20]));
    }
    if (this.faults && random.chance(0.01)) {
      this.sometimes("close() inside of a call");
      queueMicrotask(() => this.shut(isolate, opened));
    }
    const calls = [this.anyCall(request, opened)];
    if (random.chance(0.25)) {
      const isOther = random.chance(0.5);
      if (isOther) this.sometimes("a request uses two tags");
      calls.push(this.anyCall(request, isOther ? this.open(request, random.one(TAGS)) : opened));
      if (opened.waiting.size > 1 && !isOther) this.sometimes("two calls of a request wait together");
    }
    for (const { status, reason } of await Promise.allSettled(calls))
      if (status === "rejected") this.checkError(request, reason);
    if (other) await other;
    if (random.chance(0.3)) {
      await this.pause(request, random.one([1, 20, 300]));
      await this.anyCall(request, this.open(request, tag));
    }
  }

  async pause(request, ms) {
    request.isPausing = true;
    await new Promise((resolve) => this.timer(resolve, ms));
    request.isPausing = false;
  }

  /** One number, if it is there. */
  tried({ numbers, isClosed }) {
    if (isClosed) return [];
    const number = numbers.tryNext();
    if (number === undefined) this.sometimes("tryNext() finds nothing");
    return number === undefined ? [] : [number];
  }

  /** Some call for numbers. */
  anyCall(request, opened) {
    const { random } = this;
    const count = random.one([1, 1, 1, 2, 7, 30, 100]);
    const kind = random.below(6);
    if (kind === 0) return this.call(request, opened, async ({ nextString }) => [BigInt(await nextString())], 1);
    if (kind === 1) return this.call(request, opened, ({ nextMany }) => nextMany(count), count);
    if (kind === 2)
      return this.call(request, opened, async ({ fill }) => [...(await fill(new BigUint64Array(count)))], count);
    if (kind === 3) {
      const ready = async ({ ready }) => {
        await ready();
        return this.tried(opened);
      };
      return this.call(request, opened, ready, 1);
    }
    const signalled = random.chance(0.3);
    if (!signalled) return this.call(request, opened, async ({ next }) => [await next()], 1);
    const controller = new AbortController();
    const timer = this.timer(() => controller.abort(new Error("stop")), random.one([1, 30, 500]));
    const { signal } = controller;
    return this.call(request, opened, ({ nextMany }) => nextMany(count, { signal }), count).finally(() => {
      // A timer that is over can be cleared, too.
      this.clear(timer);
    });
  }

  /** Makes a call, which must end in time, and checks its numbers. */
  async call(request, opened, make, count) {
    const { isolate } = request;
    const { numbers, last } = opened;
    const { left, closed, failures } = numbers.stats();
    if (failures > (isolate.failed.get(numbers.tag) ?? 0) && isolate.clockSetMs < this.ms - 15_000)
      this.fail(`${request.name} finds ${failures} failures of ${numbers.tag}, and fewer tries failed`);
    // What the faults left under way ends later.
    const isHealthy = this.losing && count === 1;
    const { maxAsyncWaitMs } = isolate.options.get(numbers.tag);
    const beganMs = this.ms;
    const isThere = left >= count && !closed;
    if (!isThere && count > this.maxStep) this.sometimes("a call wants more than one range has");
    let hasEnded = false;
    const check = () => {
      if (hasEnded || request.isCancelled || isolate.isEvicted) return;
      // A clock that was set back does not show how long the call has waited.
      if (isolate.clockSetMs < beganMs || this.ms > beganMs + maxAsyncWaitMs + SET_MS)
        this.fail(`${request.name} hangs`);
      this.after(SET_MS, check);
    };
    this.after(maxAsyncWaitMs + SLACK_MS, check);
    if (isHealthy)
      this.after(HEALTHY_MS, () => {
        if (!hasEnded && !request.isCancelled) this.fail(`${request.name} waits for a healthy store`);
      });
    if (!isThere) request.isBlocked = true;
    const want = { request, count };
    opened.waiting.add(want);
    try {
      const got = await make(numbers);
      this.entered();
      if (isThere) {
        this.sync++;
        this.sometimes("a number is there at once");
        if (this.ms > beganMs) this.fail(`${request.name} waits ${this.ms - beganMs} ms for numbers that are there`);
      } else this.sometimes("a call waits for numbers");
      this.taken(request, opened, got, last);
    } catch (error) {
      this.entered();
      if (isHealthy && error.code === "SEGMENT_EXHAUSTED" && maxAsyncWaitMs >= HEALTHY_MS)
        this.fail(`${request.name} finds no number of a healthy store: ${error.message}`);
      throw error;
    } finally {
      hasEnded = true;
      if (isHealthy && !request.isCancelled) this.mostHealthyMs = Math.max(this.mostHealthyMs, this.ms - beganMs);
      opened.waiting.delete(want);
      request.isBlocked = false;
      if (isolate.clockSetMs < beganMs) this.mostLateMs = Math.max(this.mostLateMs, this.ms - beganMs - maxAsyncWaitMs);
    }
  }

  /** Checks numbers of a request. `last`: what was the largest one when the call began. */
  taken({ isolate, name }, opened, got, last = opened.last) {
    const { tag } = opened.numbers;
    const wrong = this.numbers.check(isolate, tag, got);
    if (wrong !== undefined) this.fail(wrong);
    let before = last;
    for (const number of got) {
      if (number <= before) this.fail(`${name}: ${number} of ${tag} after ${before}`);
      before = number;
    }
    if (before > opened.last) opened.last = before;
    opened.handed += got.length;
  }

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
  }

  /** The holders whose segments were closed. */
  closed = new Set();

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
}

const ACTIONS = {
  request: 50,
  burst: 16,
  isolate: 4,
  evict: 3,
  close: 2,
  stepClock: 2,
  storeAway: 2,
  storeMute: 2,
  storeFails: 2,
  abortObject: 4,
  failOver: 2,
};
const WEIGHTED = Object.entries(ACTIONS).flatMap(([name, weight]) => Array(weight).fill(name));

function act(w) {
  const { random } = w;
  const name = random.one(WEIGHTED);
  const isolate = random.one(w.isolates);
  if (name === "request") w.request(isolate);
  else if (name === "burst") for (let left = 2 + random.below(5); left > 0; left--) w.request(isolate);
  else if (name === "isolate") {
    if (w.isolates.length < 5) w.newIsolate();
  } else if (name === "evict") {
    if (w.isolates.length > 1) w.evict(isolate);
  } else if (name === "close") w.close(isolate);
  else if (name === "stepClock") {
    w.sometimes("a clock is set");
    isolate.setClock(random.chance(0.3) ? 0 : isolate.aheadMs + random.one([-5000, -1500, -50, 50, 1500, 5000]));
    w.step(`the clock of ${isolate.name} is ${isolate.aheadMs} ms ahead`);
  } else if (name === "storeAway") {
    const forMs = random.one([200, 1000, 4000, 7000]);
    w.step(`the store is away for ${forMs} ms`);
    w.storeAwayUntilMs = w.ms + forMs;
    if (forMs > TRY_MS) w.sometimes("the store is away for longer than a try");
  } else if (name === "storeMute") {
    const forMs = random.one([1000, 4000]);
    w.step(`the answers of the store are held up for ${forMs} ms`);
    w.storeMuteUntilMs = w.ms + forMs;
    w.sometimes("the answers of the store are held up");
  } else if (name === "storeFails") {
    const forMs = random.one([200, 4000]);
    w.step(`the store fails for ${forMs} ms`);
    w.storeFailsUntilMs = w.ms + forMs;
  } else if (name === "abortObject") {
    w.step("the object is aborted");
    w.store.abort();
  } else if (name === "failOver") {
    w.step("the store fails over");
    w.store.failOver(random.below(4));
  }
}

/** Runs a seed. Returns what happened in it. */
export async function simulate(seed, { code, log, defect, actions = 70 } = {}) {
  const w = new World(seed, code ?? (await shipped()), log, defect);
  const { random } = w;
  w.newIsolate();
  w.newIsolate();
  for (let action = 0; action < actions; action++) {
    await w.advance(random.below(400));
    act(w);
  }
  w.step("the faults stop");
  w.faults = false;
  w.storeAwayUntilMs = 0;
  w.storeMuteUntilMs = 0;
  w.storeFailsUntilMs = 0;
  for (const isolate of w.isolates) isolate.setClock(0);
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

/** Compiles the client and the rules of the store. `broken` has what is changed in either. */
export async function compiled({ client, store } = {}) {
  const isolate = await compile("workers/segmented.ts", client);
  const rules = await compile("stores/kit/segment/rules.ts", store);
  return { isolate, store: rules({}, globalThis) };
}

let code;

/** The shipped client and rules. */
function shipped() {
  code ??= compiled();
  return code;
}

if (process.argv[1] === import.meta.filename) {
  const seed = Number(process.argv[2] ?? 1);
  const broken = process.argv[3] && (await import("./broken.mjs")).BROKEN[process.argv[3]];
  const log = (line) => process.stdout.write(`${line}\n`);
  const { seen, ...counts } = await simulate(seed, {
    code: broken && (await compiled(broken)),
    log,
    defect: broken?.defect,
  });
  process.stdout.write(`seed ${seed}: ${JSON.stringify(counts)}; ${[...seen].join("; ")}\n`);
}
