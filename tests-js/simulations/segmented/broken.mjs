// Clients and stores that are wrong on purpose: the shipped sources with lines changed. The checker of the simulation must find each.

const REPEATS = /again, after|in no range|after \d+\n/;
const HOLE = /nobody hands out/;
const STUCK = /does not hand out numbers again|waits for a healthy store|of a healthy store/;
/** Tells the core that the tries beside the one with `number` have ended, although they have not. */
const END_ALL = `for (let other = number - 8; other < number + 8; other++)
        if (other > 0)
          this.call(SegmentCall.FAIL, ({ numbers }) => {
            numbers[Slot.ASKED_NUMBER] = other;
          });
`;
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
      files: ["segment/holder.ts"],
      changes: [
        [
          "if (this.call(SegmentCall.TAKE, write, given)[Slot.TAKEN] === 0) return undefined;",
          "if (this.call(SegmentCall.TAKE, write, given)[Slot.TAKEN] === 0) return void ((this as any).twice = answer);",
        ],
        [
          "    const numbers = this.call(SegmentCall.DRAW, write, undefined, nowMs);\n    this.#next[0] = this.#port.ids[0] as bigint;",
          `    const numbers = this.call(SegmentCall.DRAW, write, undefined, nowMs);
    this.#next[0] = this.#port.ids[0] as bigint;
    const { twice } = this as any;
    if (twice !== undefined) {
      (this as any).twice = undefined;
      this.#next[0] = twice.first;
      this.#stride = 1;
      this.ahead = twice.count;
      return;
    }`,
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
      files: ["segment/holder.ts"],
      changes: [
        ["writeDigits(numbers, Slot.NONCE, attempt);", "writeDigits(numbers, Slot.NONCE, this.attempt ?? attempt);"],
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
      files: ["segment/holder.ts"],
      changes: [
        [
          "      this.problem = undefined;\n      this.attempt",
          `${END_ALL}      this.problem = undefined;\n      this.attempt`,
        ],
      ],
    },
    says: HOLE,
  },
  "tries are forgotten where the clock of a request is behind": {
    client: {
      files: ["segment/holder.ts"],
      changes: [
        [
          "    const { binding } = this.#port;\n    const needsNone",
          `    const isBehind = nowMs < this.nowMs && call !== SegmentCall.FAIL;
    if (isBehind && this.attempt === undefined) {
      const number = this.#port.numbers[Slot.ASKED_NUMBER] as number;
      ${END_ALL}
    }
    const { binding } = this.#port;
    const needsNone`,
        ],
      ],
    },
    says: HOLE,
  },
  "a request whose clock is behind ends the try of another": {
    client: {
      files: ["segment/holder.ts"],
      changes: [
        [
          "numbers[Slot.MONOTONIC_MS] = nowMs;",
          "numbers[Slot.MONOTONIC_MS] = nowMs < this.nowMs ? nowMs - 10_000 : nowMs;",
        ],
      ],
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
          "const carried = tryInMs > 0 ? undefined : holder.askOwn(this.#wanted(want.untilMs));",
          `const carried = ((this as any).shared ??=
          tryInMs > 0
            ? undefined
            : holder.askOwn(this.#wanted(want.untilMs))?.finally(() => {
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
        ["const sleeping: Sleeping = new Set();", "const sleeping: Sleeping = ((this as any).all ??= new Set());"],
      ],
    },
    says: SHARED,
  },
  "the tries that an answered attempt has left are waited for without end": {
    client: {
      files: ["workers/segment-request-driver.ts"],
      changes: [
        ["      new Set(),\n", "      ((this as any).underWay ??= new Set()),\n"],
        [
          "if (this.#isAsking) return undefined;",
          "if (this.#isAsking || (this.attempt === undefined && (this as any).underWay?.size > 0)) return undefined;",
        ],
      ],
    },
    says: STUCK,
  },
  "each request that waits asks": {
    client: {
      files: ["workers/segment-request-driver.ts"],
      changes: [
        ["tryInMs > 0 ? undefined : holder", "holder"],
        [
          'return typeof asked === "object" ? this.#carried(asked) : undefined;',
          `if (typeof asked === "object") (this as any).again = asked;
      const again = this.attempt && (this as any).again;
      return typeof asked === "object" || again ? this.#carried(again) : undefined;`,
        ],
      ],
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
      changes: [["sleep(lookMs, signal, sleeping)", "sleep(carried ? this.#limitMs : lookMs, signal, sleeping)"]],
    },
    says: STUCK,
  },
  "the time of a try is that of all tries before it": {
    client: {
      files: ["workers/segment-request-driver.ts"],
      changes: [
        [
          "if (this.#isAsking) return undefined;",
          "if (this.#isAsking || this.nowMs < (this as any).untilMs) return undefined;",
        ],
        [
          "    const error = await attempt(",
          `    const patience = this as any;
    const isSame = patience.lastAttempt === asked.request.attempt;
    patience.lastAttempt = asked.request.attempt;
    patience.lastMs = isSame ? Math.min(this.timeoutMs, 2 * patience.lastMs) : 50;
    patience.untilMs = asked.atMs + patience.lastMs;
    const error = await attempt(`,
        ],
      ],
    },
    says: STUCK,
  },
  "a refusal is told without end": {
    client: {
      files: ["workers/segment-request-driver.ts", "segment/holder.ts"],
      changes: [
        ["refusal: isRefused ? problem : undefined", "refusal: isRefused ? problem : (this as any).refusal"],
        [
          "      this.problem = problem;\n  }",
          "      this.problem = problem;\n    if (!problem.retryable) (this as any).refusal = problem;\n  }",
        ],
      ],
    },
    says: STUCK,
  },
  "what comes after close() counts": {
    client: {
      files: ["segment/holder.ts"],
      changes: [["    if (this.isClosed) return;\n", ""]],
    },
    says: /after close\(\) of \w+ its problem is/,
  },
  "numbers are drawn for a call that fails": {
    client: {
      files: ["segment/numbers.ts"],
      changes: [
        [
          "if (!holder.has(count)) throw holder",
          "if (!holder.has(count) || count === 7) throw holder.draw(nowMs), holder",
        ],
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
