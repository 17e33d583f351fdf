/** All numbers of a run: none may repeat within a tag, and each must be in a range that was allocated to its isolate. */
export class HandedOut {
  /** By tag: every number, and who got it. */
  #numbers = new Map();
  size = 0;

  /** `allocations` are those of the store. */
  constructor(allocations) {
    this.allocations = allocations;
  }

  /** Checks numbers of an isolate. Returns what is wrong, if anything. */
  check(isolate, tag, numbers) {
    const known = this.#numbers.get(tag) ?? new Map();
    this.#numbers.set(tag, known);
    let range;
    for (const number of numbers) {
      const other = known.get(number);
      if (other !== undefined) return `${isolate.name} hands out ${number} of ${tag} again, after ${other}`;
      known.set(number, isolate.name);
      this.size++;
      const has = ({ first, count }) => number >= first && number < first + BigInt(count);
      if (range && has(range)) continue;
      range = this.allocations.find((made) => made.isolate === isolate && made.tag === tag && has(made));
      if (range === undefined) return `${isolate.name}: ${number} of ${tag} is in no range that was allocated to it`;
    }
    return undefined;
  }

  /** How many numbers of a range were handed out. */
  countIn({ tag, first, count }) {
    const known = this.#numbers.get(tag);
    let handed = 0;
    for (let number = first; number < first + BigInt(count); number++) if (known?.has(number)) handed++;
    return handed;
  }
}
