/**
 * The clock of a server, from the `Date` header of its answers, which has whole seconds.
 *
 * The server wrote the header after the request was sent and before the answer came, and its clock was within the second that the header
 * names. That bounds the difference between the server's clock and the monotonic clock of this process, to a second for one answer. Several
 * answers narrow it: what all of them allow is right, unless the server's clock was set or this machine was suspended, and then they
 * contradict each other.
 *
 * - **Never ahead**: the time is the earliest that the answers allow. A window that ends at it has ended.
 * - **Within the header's second**: at most a second behind the server's clock, and less after a few answers.
 * - **The wall clock of this process does not matter**. It is not read.
 */

/** What a header leaves open. */
const SECOND_MS = 1000;
/** How far the two clocks drift apart in a millisecond. NTP slews a clock by at most half of it; crystals err by less. */
const DRIFT = 0.001;

export class DateClock {
  /** The bounds of the server's time less the monotonic time, as of the last answer. */
  #earliestMs = Number.NEGATIVE_INFINITY;
  #latestMs = Number.POSITIVE_INFINITY;
  #receivedMs = 0;

  /**
   * The server's time at the moment `receivedMs`, in Unix milliseconds, from an answer with the header `dateMs` to a request
   * of the moment `sentMs`. The moments are of the monotonic clock.
   */
  observe(dateMs: number, sentMs: number, receivedMs: number): number {
    const driftMs = Math.max(0, receivedMs - this.#receivedMs) * DRIFT;
    const [earliestMs, latestMs] = [dateMs - receivedMs, dateMs + SECOND_MS - sentMs];
    const both = [
      Math.max(earliestMs, this.#earliestMs - driftMs),
      Math.min(latestMs, this.#latestMs + driftMs),
    ] as const;
    // Without a time that all answers allow, one of the clocks was set, and the last answer counts.
    [this.#earliestMs, this.#latestMs] = both[0] < both[1] ? both : [earliestMs, latestMs];
    this.#receivedMs = receivedMs;
    return this.#at(receivedMs);
  }

  /**
   * The same, if the server's time was `pastMs` before it wrote the last answer: another process knew that it was, with its own bounds. It
   * is at least a millisecond later. A time that the header excludes is of another clock, and does not count.
   */
  after(pastMs: number, receivedMs: number): number {
    const earliestMs = pastMs + 1 - receivedMs;
    if (earliestMs < this.#latestMs) this.#earliestMs = Math.max(this.#earliestMs, earliestMs);
    return this.#at(receivedMs);
  }

  #at(receivedMs: number): number {
    return Math.floor(receivedMs + this.#earliestMs);
  }
}
