// A store of segments in memory, with faults that tests choose. It has no incarnation, and remembers the attempts of all holders
// alike: ../stores/memory-segment-store.mjs is the one that keeps the contract.

/** `counters`: the next number of each tag. */
export class MemorySegments {
  name = "memory";
  counters = new Map();
  requests = [];
  /** Called before each allocation: may throw, wait, or return another answer. */
  before = () => {};

  constructor(tags = { orders: 1n }) {
    for (const [tag, first] of Object.entries(tags)) this.counters.set(tag, first);
  }

  async allocate(request) {
    this.requests.push(request);
    const answer = await this.before(request, this.requests.length);
    return answer ?? this.carryOut(request);
  }

  #answers = new Map();
  /** Allocates, or answers again what was allocated to the attempt. */
  carryOut({ tag, maxCount, count = Math.min(1000, maxCount), above, failoverSkip, attempt }) {
    const known = this.#answers.get(attempt);
    if (known) return known;
    const next = this.counters.get(tag);
    const first = above > next ? above + BigInt(failoverSkip) : next;
    this.counters.set(tag, first + BigInt(count));
    const answer = { attempt, first, count, step: Math.min(1000, maxCount) };
    this.#answers.set(attempt, answer);
    return answer;
  }
}
