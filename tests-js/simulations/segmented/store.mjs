// A store of segments in fake time, by the rules that ship: as an object, which carries out a request in one step and answers when what it
// wrote is durable; or as a table, whose record a client reads, and replaces if it is unchanged.

const FIRST = ["1", "1", "[]"];
/** How long until what the object wrote is durable, at most. */
const FLUSH_MS = 5;
/** How long requests live that saw the clock as it was before it was set, at most. */
const SETTLED_MS = 15_000;

/** Why a range is lost if a try takes it that no request waits for any more. */
export const LATER = "it was carried out after the next attempt had begun";

export class SimulatedStore {
  /** Which server it is: another one after each failover. */
  #incarnation = 1;
  /** By tag. */
  #records = new Map();
  /** What was written, the newest last: the tag, the record before, and the allocation if it is a new one. */
  #history = [];
  /** By tag: what the counter was at most. */
  #highest = new Map();
  /** The object's writes that are not durable: what to do then, and what to do if it is aborted. */
  #batch = [];
  /** All ranges that were allocated: to which isolate, for which attempt, and when. */
  allocations = [];

  /** `skip`: how many numbers a request skips at least. `defect`: what is wrong on purpose. */
  constructor(world, { rules, tags, skip, isTable, defect }) {
    this.world = world;
    this.rules = rules;
    this.skip = skip;
    this.isTable = isTable;
    this.defect = defect;
    for (const tag of tags) {
      this.#records.set(tag, FIRST);
      this.#highest.set(tag, 1n);
    }
  }

  get name() {
    return `server ${this.#incarnation}`;
  }

  /** Reads a record, as a client of the table does. */
  read(tag) {
    return { kept: this.#records.get(tag), server: this.name };
  }

  /** The effect of a request on a record that was read. */
  decide({ kept, server }, sent) {
    const record = this.rules.tagRecordOf(sent.tag, kept);
    const { allocation, record: next } = this.rules.decideAllocate(record, sent, server);
    if (record.incarnation !== server || sent.above > record.next) this.world.sometimes("numbers are skipped");
    return { allocation, kept: this.rules.keptRecord(next) };
  }

  /** Replaces a record as it was read. Returns whether it was. `given`: who asked, and when. */
  replace(seen, { allocation, kept }, given) {
    const { tag } = given.sent;
    if (seen.server !== this.name) {
      this.world.sometimes("a record was read before a failover and replaced after it");
      return false;
    }
    const before = this.#records.get(tag);
    if (this.defect !== "replaces blindly" && before.some((value, at) => value !== seen.kept[at])) {
      this.world.sometimes("a record was replaced by somebody else meanwhile");
      return false;
    }
    this.#records.set(tag, kept);
    const next = BigInt(kept[0]);
    if (next > this.#highest.get(tag)) this.#highest.set(tag, next);
    this.#history.push({ tag, before, made: this.#allocated(given, allocation) });
    return true;
  }

  /** Carries out a request in the object. `settle` is given the answer when it is durable, or why there is none. */
  execute(given, settle) {
    const { world } = this;
    if (this.#batch.length === 0) {
      const batch = this.#batch;
      world.after(1 + world.random.below(FLUSH_MS), () => this.#flush(batch));
      if (world.faults && world.random.chance(0.02)) world.after(0, () => this.abort());
    }
    const seen = this.read(given.sent.tag);
    const decided = this.decide(seen, given.sent);
    this.replace(seen, decided, given);
    this.#batch.push((error) => settle(error ?? decided.allocation));
  }

  #flush(batch) {
    if (batch !== this.#batch) return;
    this.#batch = [];
    for (const settle of batch) settle();
  }

  /** Aborts the object: what is not durable is undone. */
  abort() {
    const batch = this.#batch;
    if (batch.length > 0) this.world.sometimes("the object is aborted, and a write rolled back");
    this.#batch = [];
    for (const _ of batch) {
      const made = this.#undo();
      if (made) this.allocations.splice(this.allocations.indexOf(made), 1);
    }
    for (const settle of batch) settle(new Error("the object was reset"));
  }

  /** Another server takes over, which may lack the last records: as many numbers as a request skips. */
  failOver(count) {
    this.abort();
    this.#incarnation++;
    for (let left = count; left > 0 && this.#history.length > 0; left--) {
      const { tag, before } = this.#history.at(-1);
      if (this.#highest.get(tag) - BigInt(before[0]) > BigInt(this.skip)) break;
      const made = this.#undo();
      if (made) {
        this.world.sometimes("a failover loses allocations");
        made.cause = "a failover lost it";
        this.#lost.add(made.attempt);
      }
    }
  }

  /** The attempts that the record has forgotten: a retry gets another range, and one of the two is taken. */
  #lost = new Set();

  /** Why no request takes a range. */
  causeOf({ cause, attempt }) {
    return cause ?? (this.#lost.has(attempt) ? "the record has forgotten its attempt" : undefined);
  }

  /** Undoes the last write. Returns the range that it allocated, if it was a new one. */
  #undo() {
    const { tag, before, made } = this.#history.pop();
    this.#records.set(tag, before);
    return made;
  }

  /** Notes what was allocated. `undefined` if it is a range that was there. */
  #allocated({ isolate, sent, sentMs, isDouble }, { attempt, first, count }) {
    const { world } = this;
    const { tag, holder } = sent;
    const isSame = (other) => other.attempt === attempt && other.holder === holder && other.first === first;
    if (this.allocations.some(isSame)) {
      world.sometimes("a retry is answered with the range of its first try");
      return undefined;
    }
    const made = { isolate, tag, holder, attempt, first, count, cause: undefined };
    if (isDouble) made.cause = "it was carried out twice";
    else if (world.ms > sentMs + world.tryMs) made.cause = "it was carried out after its time";
    else if (isolate.clockSetMs > sentMs - SETTLED_MS) made.cause = "the clock was set";
    else if (world.isOver(isolate, attempt)) made.cause = LATER;
    // The record has one attempt of each process: this one, and not the one that is under way.
    const last = this.allocations.findLast((other) => other.holder === holder);
    if (made.cause && last) this.#lost.add(last.attempt);
    this.allocations.push(made);
    world.step(`store: ${first} to ${first + BigInt(count) - 1n} of ${tag} for ${attempt.slice(0, 4)}`);
    return made;
  }
}
