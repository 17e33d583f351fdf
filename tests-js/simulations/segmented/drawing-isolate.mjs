// The isolates of the simulation: what each has open of a tag, and what it asked the store.
import { Isolate } from "../workers/isolates.mjs";

export const TAGS = ["orders", "invoices"];

/** What is open of a tag in an isolate. */
export class Opened {
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

export class DrawingIsolate extends Isolate {
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
