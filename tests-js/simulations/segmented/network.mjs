// The network between the isolates and the store: tries that are late, lost or doubled, answers that cannot be true, and what is checked of
// each try.
import { STEP_BACK_MS, WorkersWorld } from "../workers/isolates.mjs";
import { TAGS } from "./drawing-isolate.mjs";
import { SOMETIMES } from "./events.mjs";
import { HandedOut } from "./numbers.mjs";
import { SimulatedStore } from "./store.mjs";

/** How long a try may take. */
const TRY_MS = 3000;
/** What the client gives a try at least before the next attempt begins, after an answer to another one. */
const MIN_PATIENCE_MS = 50;
/** How many tries an attempt may have at once, and how many more in each second. */
const [MAX_TRIES, MORE_TRIES] = [6, 3];
/** How long a request may count that was cancelled: with what it has asked for. */
const GONE_MS = 5000;
/** How many requests to the store one request to the Worker may make. Measured: at most 24 in 300 seeds. */
const MAX_ASKED = 60;

/** A world of isolates whose store answers through a network with faults. */
export class NetworkWorld extends WorkersWorld {
  /** Until then the store carries requests out, and its answers are held up. */
  storeMuteUntilMs = 0;
  tryMs = TRY_MS - STEP_BACK_MS;
  maxStep = 40;
  mostTries = 0;
  /** Whether the store is healthy, and loses single tries. */
  losing = false;
  /** The answers of late. */
  answers = [];
  /** The attempts that were ended by an answer that cannot be true. */
  wronged = new Set();

  constructor(seed, { isolate, store, defect }, log) {
    const bound = { words: "a try", ms: TRY_MS };
    super(seed, { evaluate: isolate, log, name: "segmented", listed: SOMETIMES, bound });
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

  /** Notes a try. There must be few, for no more than is wanted. */
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

  /** What becomes of a message to the store: runs `carryOut`, perhaps twice, or does not. `failed` gets errors. */
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

  /** The losses of a try where the store is healthy: of one try of an attempt at most. */
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
}
