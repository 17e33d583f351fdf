// The store of segments in memory of the package, with faults that a test chooses, and with what it was asked.
import { MemorySegmentStore } from "frazil/testing";

export class FaultySegments extends MemorySegmentStore {
  requests = [];
  /** Called before each allocation: may throw, wait, or return another answer. */
  before = () => {};

  /** `tags`: the first number of each. */
  constructor(tags = { orders: 1n }) {
    super();
    for (const [tag, first] of Object.entries(tags)) void this.initSegment({ tag, first });
  }

  async allocate(request) {
    this.requests.push(request);
    const answer = await this.before(request, this.requests.length);
    return answer ?? this.carryOut(request);
  }

  /** Allocates, whatever the signal says: a server does not hear of it. */
  carryOut({ signal: _, ...sent }) {
    return super.allocate(sent);
  }
}
