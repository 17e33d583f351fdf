// Clients and stores that are wrong on purpose: the shipped sources with lines changed. The checker of the simulation must find each.

const REPEATS = /again, after|in no range|after \d+\n/;
const HOLE = /nobody hands out/;
const STUCK = /does not hand out numbers again|waits for a healthy store|of a healthy store/;
const SHARED = /share a promise|hangs|clears a timer of/;

/**
 * By what is wrong: what is changed in the `client` or in the rules of the `store` (the files, what stands there, what stands there
 * instead), or the `defect` of store.mjs; and what the checker says.
 */
export const BROKEN = {
  "all isolates draw the same numbers": {
    client: {
      files: ["asking/kernel-random.ts"],
      changes: [
        [
          "isAsking ? drawRandom()",
          "isAsking ? drawRandom().fill(((globalThis as any).drawn = ((globalThis as any).drawn ?? 0) + 1))",
        ],
        ["return whyCopied === undefined ? words : hostRandom(WORDS);", "return words.fill(7);"],
      ],
    },
    says: REPEATS,
  },
  "an answer is taken that comes after another to its attempt": {
    client: {
      files: ["workers/segment-request-driver.ts", "segment/holder.ts"],
      changes: [
        [
          "if (this.attempt !== request.attempt) return;",
          "if (this.attempt !== request.attempt) return void ((this as any).twice = answer);",
        ],
        [
          "    const write = ({ numbers }: Port) => {\n      numbers[Slot.WANT] = Number.MAX_SAFE_INTEGER;",
          `    const { twice } = this as any;
    if (twice !== undefined) {
      (this as any).twice = undefined;
      return { stride: 1, ...twice };
    }
    const write = ({ numbers }: Port) => {
      numbers[Slot.WANT] = Number.MAX_SAFE_INTEGER;`,
        ],
      ],
    },
    says: REPEATS,
  },
  "an answer to another attempt is taken": {
    client: {
      files: ["segment/holder.ts"],
      changes: [["if (named !== attempt) throw", "if (named === undefined) throw"]],
    },
    says: REPEATS,
  },
  "an answer to an attempt that ended is taken for that to the next one": {
    client: {
      files: ["workers/segment-request-driver.ts", "segment/holder.ts"],
      changes: [
        ["if (this.attempt !== request.attempt) return;", "if (this.attempt === undefined) return;"],
        [
          "problem = this.take(answer, asked);",
          "problem = this.take(answer, { ...asked, request: { ...request, attempt: this.attempt } });",
        ],
        ["if (named !== attempt) throw", "if (named === undefined) throw"],
      ],
    },
    says: HOLE,
  },
  "the end of a range is taken for later than it is": {
    client: {
      files: ["segment/holder.ts"],
      changes: [["? numberOrNaN(count) : 0;", "? numberOrNaN(count) + 1 : 0;"]],
    },
    says: REPEATS,
  },
  "an attempt begins while the store may carry out a try of the one before": {
    client: {
      files: ["workers/segment-request-driver.ts"],
      changes: [["this.#bePatient(nowMs, 0);", "this.#patientUntilMs = 0;"]],
    },
    says: HOLE,
  },
  "tries are forgotten where the clock of a request is behind": {
    client: {
      files: ["workers/segment-request-driver.ts"],
      changes: [
        [
          "const nowMs = this.steadyMs();\n    if (this.#underWay.size > 0 && this.#isBefore(this.#patientUntilMs, nowMs))",
          `const nowMs = monotonicClock();
    const patientMs = this.#patientUntilMs - nowMs;
    if (this.#underWay.size > 0 && patientMs > 0 && patientMs <= this.#patienceMs)`,
        ],
      ],
    },
    says: HOLE,
  },
  "a request whose clock is behind ends the try of another": {
    client: {
      files: ["workers/segment-request-driver.ts"],
      changes: [["super.call(call, write, given, this.#steady(nowMs))", "super.call(call, write, given, nowMs)"]],
    },
    says: /fewer tries failed/,
  },
  "each try is that of another process": {
    client: { files: ["segment/holder.ts"], changes: [["this.#holder ??= ", "this.#holder = "]] },
    says: HOLE,
  },
  "calls inside of one that asks ask too": {
    client: {
      files: ["workers/segment-request-driver.ts"],
      changes: [["if (this.#isAsking) return undefined;", ""]],
    },
    says: HOLE,
  },
  "a call inside of the first one makes a segment of its own": {
    client: { files: ["workers/segmented.ts"], changes: [["    known = openEntry(identity, tag);\n", ""]] },
    says: /second segment|STATE_CONFLICT/,
  },
  "requests share the promise of an answer": {
    client: {
      files: ["workers/segment-request-driver.ts"],
      changes: [
        [
          "const carried = holder.askOwn(() => this.#wanted(want.untilMs));",
          `const carried = ((this as any).shared ??= holder
          .askOwn(() => this.#wanted(want.untilMs))
          ?.finally(() => {
            (this as any).shared = undefined;
          }));`,
        ],
      ],
    },
    says: SHARED,
  },
  "an answer wakes other requests": {
    client: {
      files: ["workers/segment-request-driver.ts"],
      changes: [
        ["const answered: Sleeping = new Set();", "const answered: Sleeping = ((this as any).all ??= new Set());"],
      ],
    },
    says: SHARED,
  },
  "the tries that an answered attempt has left are waited for without end": {
    client: {
      files: ["workers/segment-request-driver.ts"],
      changes: [
        ["if (this.#underWay.size > 0 && this.#isBefore(this.#patientUntilMs, nowMs))", "if (this.#underWay.size > 0)"],
      ],
    },
    says: STUCK,
  },
  "each request that waits asks": {
    client: {
      files: ["workers/segment-request-driver.ts"],
      changes: [["if (this.#underWay.size > 0 && this.#isBefore(this.#patientUntilMs, nowMs)) return undefined;", ""]],
    },
    says: /tries \d+ times|asks the store \d+ times/,
  },
  "a request that was cancelled counts for ever": {
    client: {
      files: ["workers/segment-request-driver.ts"],
      changes: [["if (Math.abs(untilMs - want.untilMs) < COUNTED_MS)", "if (want.count > 0)"]],
    },
    says: /asks for \d+ numbers of \w+, and wants/,
  },
  "a request that has asked looks at nothing until it is answered": {
    client: {
      files: ["workers/segment-request-driver.ts"],
      changes: [["Math.min(lookMs, this.#limitMs - waitedMs)", "carried ? this.#limitMs - waitedMs : lookMs"]],
    },
    says: STUCK,
  },
  "the time of a try is that of all tries before it": {
    client: {
      files: ["workers/segment-request-driver.ts"],
      changes: [
        ["nowMs < this.#patientUntilMs + MAX_PATIENCE_MS;", "true;"],
        ["this.#patienceMs = Math.min(MAX_PATIENCE_MS,", "this.#patienceMs = Math.min(this.timeoutMs,"],
      ],
    },
    says: STUCK,
  },
  "a refusal is told without end": {
    client: {
      files: ["workers/segment-request-driver.ts"],
      changes: [["this.#isBefore(this.#refusedUntilMs, nowMs) ? this.#refusal : undefined", "this.#refusal"]],
    },
    says: STUCK,
  },
  "numbers are drawn for a call that fails": {
    client: {
      files: ["segment/numbers.ts"],
      changes: [
        ["if (!this.#has(count)) throw this", "if (!this.#has(count) || count === 7) throw this.#draw(nowMs), this"],
      ],
    },
    says: /were handed out and|numbers were handed out of/,
  },
  "the store skips nothing after a failover": {
    store: {
      files: ["stores/kit/segment/rules.ts"],
      changes: [["hasLost ? highest + skipOf(request) : highest", "highest"]],
    },
    says: REPEATS,
  },
  "the store forgets attempts": {
    store: {
      files: ["stores/kit/segment/rules.ts"],
      changes: [["recent.holder === holder && recent.attempt === attempt", "recent.holder === holder && false"]],
    },
    says: HOLE,
  },
  "the store replaces a record that somebody else has written meanwhile": {
    defect: "replaces blindly",
    says: REPEATS,
  },
};
