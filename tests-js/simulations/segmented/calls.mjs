// The calls for numbers: what a request makes, how long each may take, and what is checked of the numbers.
import { Request } from "../workers/isolates.mjs";
import { Opened, TAGS } from "./drawing-isolate.mjs";
import { NetworkWorld } from "./network.mjs";

/** How much longer than its time a call may take. Measured: at most 38 ms in 300 seeds. */
const SLACK_MS = 50;
/** How long a call for one number may take where the store is healthy and loses single tries. */
const HEALTHY_MS = 1500;
/** The same where the clock was set meanwhile. */
const SET_MS = 10_000;

const ORDINARY = new Set(["SEGMENT_EXHAUSTED", "CLOSED"]);

/** A world whose requests draw numbers. */
export class CallsWorld extends NetworkWorld {
  mostLateMs = 0;
  mostHealthyMs = 0;

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
    // It may fail inside of the next one, if microtasks run there, before what waits for both.
    calls[0].catch(() => {});
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
}
